package work

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"bourdon.dev/targets/go/routes"
)

func env(pairs ...string) func(string) string {
	m := make(map[string]string)
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return m[name] }
}

func TestSettingsFromEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := SettingsFrom(env(
		"ADDRESS", "0.0.0.0", "PORT", "8080", "ADMIN_PORT", "8081",
		"HANDLER_DELAY", "1500ms",
		"READ_TIMEOUT", "1s", "READ_HEADER_TIMEOUT", "10ms", "WRITE_TIMEOUT", "0ms", "IDLE_TIMEOUT", "2s",
		"DATA_FILE", file,
	))
	if err != nil {
		t.Fatal(err)
	}
	want := Settings{
		Address: "0.0.0.0", Port: 8080, AdminPort: 8081,
		HandlerDelay: 1500 * time.Millisecond,
		ReadTimeout:  time.Second, ReadHeaderTimeout: 10 * time.Millisecond, IdleTimeout: 2 * time.Second,
		DataFile: file,
	}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEmptySettingsAreDefaults(t *testing.T) {
	got, err := SettingsFrom(env("PORT", "8080", "ADDRESS", "", "HANDLER_DELAY", "", "ADMIN_PORT", ""))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Settings{Address: "127.0.0.1", Port: 8080}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRouteSet(t *testing.T) {
	got, err := SettingsFrom(env("PORT", "8080", "ROUTES", "parse"))
	if err != nil || !reflect.DeepEqual(got.RouteSet(), routes.Set("parse")) {
		t.Errorf("got %v, %v", got.RouteSet(), err)
	}
}

// MIDDLEWARE and RENDERING are read for every target and minded by some.
func TestWhatSomeTargetsMind(t *testing.T) {
	for _, c := range []struct {
		name, other string
		asks        func(Settings) (bool, error)
	}{
		{"MIDDLEWARE", "default", Settings.DefaultMiddleware},
		{"RENDERING", "framework", Settings.FrameworkRendering},
	} {
		usual := map[string]string{"MIDDLEWARE": "bare", "RENDERING": "bytes"}[c.name]
		for value, want := range map[string]bool{"": false, usual: false, c.other: true} {
			s, err := SettingsFrom(env("PORT", "8080", c.name, value))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := c.asks(s); err != nil || got != want {
				t.Errorf("%s=%q: %v, %v", c.name, value, got, err)
			}
		}
		s, err := SettingsFrom(env("PORT", "8080", c.name, "Other"))
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.asks(s)
		for _, part := range []string{c.name, `"Other"`, usual + " or " + c.other} {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%v does not say %q", err, part)
			}
		}
	}
}

func TestAccessLog(t *testing.T) {
	if log, err := (Settings{}).AccessLog(); err != nil || log != os.Stdout {
		t.Errorf("without SCRATCH: %v, %v", log, err)
	}

	scratch := t.TempDir()
	s, err := SettingsFrom(env("PORT", "8080", "SCRATCH", scratch))
	if err != nil {
		t.Fatal(err)
	}
	log, err := s.AccessLog()
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(log, "line\n")
	if got, err := os.ReadFile(filepath.Join(scratch, "access.log")); err != nil || string(got) != "line\n" {
		t.Errorf("the log has %q, %v", got, err)
	}

	s.scratch = "/nowhere"
	if _, err := s.AccessLog(); err == nil || !strings.Contains(err.Error(), `SCRATCH="/nowhere"`) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

func TestBadSettingsAreNamed(t *testing.T) {
	for _, c := range []struct {
		pairs []string
		says  []string
	}{
		{nil, []string{"PORT is not set"}},
		{[]string{"PORT", "http"}, []string{"PORT", `"http"`, "65535"}},
		{[]string{"PORT", "0"}, []string{"PORT", `"0"`}},
		{[]string{"PORT", "65536"}, []string{"PORT", `"65536"`}},
		{[]string{"PORT", "-1"}, []string{"PORT", `"-1"`}},
		{[]string{"PORT", "8080", "ADDRESS", "localhost"}, []string{"ADDRESS", `"localhost"`, "0.0.0.0", "127.0.0.1"}},
		{[]string{"PORT", "8080", "ADDRESS", "::"}, []string{"ADDRESS", `"::"`}},
		{[]string{"PORT", "8080", "ADMIN_PORT", "x"}, []string{"ADMIN_PORT", `"x"`}},
		{[]string{"PORT", "8080", "ADMIN_PORT", "8080"}, []string{"ADMIN_PORT", "8080", "same"}},
		{[]string{"PORT", "8080", "HANDLER_DELAY", "10"}, []string{"HANDLER_DELAY", `"10"`, "10ms"}},
		{[]string{"PORT", "8080", "READ_TIMEOUT", "-1s"}, []string{"READ_TIMEOUT", `"-1s"`}},
		{[]string{"PORT", "8080", "READ_HEADER_TIMEOUT", "soon"}, []string{"READ_HEADER_TIMEOUT", `"soon"`}},
		{[]string{"PORT", "8080", "WRITE_TIMEOUT", "1 s"}, []string{"WRITE_TIMEOUT", `"1 s"`}},
		{[]string{"PORT", "8080", "IDLE_TIMEOUT", "s"}, []string{"IDLE_TIMEOUT", `"s"`}},
		{[]string{"PORT", "8080", "DATA_FILE", "/nowhere/at/all"}, []string{"DATA_FILE", "/nowhere/at/all", "no such file"}},
		{[]string{"PORT", "8080", "ROUTES", "all"}, []string{"ROUTES", `"all"`, "github, gplus, parse, static"}},
		{[]string{"PORT", "8080", "DATA_FILE", "/"}, []string{"DATA_FILE", `"/"`, "not a regular file"}},
	} {
		_, err := SettingsFrom(env(c.pairs...))
		if err == nil {
			t.Errorf("%q: no error", c.pairs)
			continue
		}
		for _, part := range c.says {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %q does not say %q", c.pairs, err, part)
			}
		}
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %q is more than one line", c.pairs, err)
		}
	}
}
