package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func environment(t *testing.T, pairs ...string) func(string) string {
	t.Helper()
	scratch := t.TempDir()
	var lines strings.Builder
	for key := 1; key <= keys; key++ {
		fmt.Fprintf(&lines, "%d\tvalue of %d\n", key, key)
	}
	file := filepath.Join(scratch, "work.tsv")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{"SCRATCH": scratch, "WORK_FILE": file}
	for i := 0; i < len(pairs); i += 2 {
		variables[pairs[i]] = pairs[i+1]
	}
	return func(name string) string { return variables[name] }
}

func TestEachKindGivesItsValue(t *testing.T) {
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, strings.Replace(r.URL.Path, "/hello/", "value of ", 1))
	}))
	defer backend.Close()
	for _, name := range []string{"", "sleep", "file", "sqlite", "http"} {
		doing, err := kindOf(environment(t, "WORK", name, "BACKEND", backend.URL), time.Millisecond)
		if err != nil {
			t.Fatal(name, err)
		}
		for _, key := range []int{1, 10, 1000} {
			value, err := doing(context.Background(), key)
			if want := fmt.Sprintf("value of %d", key); err != nil || value != want {
				t.Errorf("%s: %q, %v, want %q", name, value, err, want)
			}
		}
	}
}

// A connection that is left open is not used again.
func TestABodyLeftOpenKeepsItsConnection(t *testing.T) {
	var opened atomic.Int32
	backend := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "hello, 7!\n")
	}))
	backend.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	backend.Start()
	defer backend.CloseClientConnections()
	for _, body := range []struct {
		name string
		want int32
	}{{"closed", 1}, {"left-open", 3}} {
		opened.Store(0)
		doing, err := kindOf(environment(t, "WORK", "http", "BACKEND", backend.URL, "HTTP_BODY", body.name), 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if value, err := doing(context.Background(), 7); value != "hello, 7!\n" || err != nil {
				t.Errorf("%s: %q, %v", body.name, value, err)
			}
		}
		if opened.Load() != body.want {
			t.Errorf("%s: %d connections, want %d", body.name, opened.Load(), body.want)
		}
	}
}

// The same figures stand in the tests of the other languages.
func TestComputed(t *testing.T) {
	for key, want := range map[int]string{1: "3083738941", 1000: "3655363837"} {
		if got := computed(key); got != want {
			t.Errorf("%d gives %s, want %s", key, got, want)
		}
	}
}

func TestWhatCannotBeUsedIsNamed(t *testing.T) {
	for _, pairs := range [][]string{
		{"WORK", "play"},
		{"WORK", "http"},
		{"WORK", "http", "BACKEND", "localhost"},
		{"WORK", "http", "BACKEND", "http://127.0.0.1:1", "HTTP_BODY", "lost"},
		{"WORK_FILE", "/no/where"},
		{"WORK", "sqlite", "SCRATCH", "/no/where"},
	} {
		_, err := kindOf(environment(t, pairs...), 0)
		last := pairs[len(pairs)-2]
		if last == "WORK" && pairs[1] == "http" {
			last = "BACKEND"
		}
		if err == nil || !strings.HasPrefix(err.Error(), last+"=") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", pairs, err)
		}
	}
}
