package work

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"bourdon.dev/targets/go/routes"
)

func same(t *testing.T, what string, got Reply, status int, contentType, body string) {
	t.Helper()
	if got.Status != status || got.ContentType != contentType || string(got.Body) != body {
		t.Errorf("%s: got %d %q %q, want %d %q %q",
			what, got.Status, got.ContentType, got.Body, status, contentType, body)
	}
}

func TestFixedReplies(t *testing.T) {
	w := New(Settings{})
	same(t, "/", w.Welcome(), 200, "text/plain; charset=utf-8", "Welcome!\n")
	same(t, "/rest/hello", w.Hello(), 200, "text/plain; charset=utf-8", "Hello world")
	same(t, "/index", w.Index(), 200, "text/plain; charset=utf-8", "index\n")
	same(t, "/hello/ann", w.Greet("ann"), 200, "text/plain; charset=utf-8", "hello, ann!\n")
	same(t, "/ping", w.Ping(), 200, "application/json", `{"message":"pong"}`)
}

func TestRoute(t *testing.T) {
	w := New(Settings{})
	values := map[string]string{"owner": "ann", "repo": "x y", "other": "?"}
	param := func(name string) string { return values[name] }
	r := routes.Route{Method: "PUT", Path: "/repos/:owner/:repo", Params: []string{"owner", "repo"}}
	same(t, "two parameters", w.Route(r, param), 200, "text/plain; charset=utf-8", "PUT /repos/:owner/:repo owner=ann repo=x y")
	r = routes.Route{Method: "GET", Path: "/articles/"}
	same(t, "none", w.Route(r, param), 200, "text/plain; charset=utf-8", "GET /articles/")
}

func TestUserIsJSON(t *testing.T) {
	w := New(Settings{})
	same(t, "plain", w.User("42"), 200, "application/json", `{"id":"42","name":"User"}`)
	same(t, "markup", w.User("<&>"), 200, "application/json", `{"id":"<&>","name":"User"}`)

	for _, id := range []string{`a"b\c`, "tab\tline\n", "é", "\x00"} {
		var got struct{ ID, Name string }
		if err := json.Unmarshal(w.User(id).Body, &got); err != nil {
			t.Errorf("%q: %v", id, err)
		}
		if got.ID != id || got.Name != "User" {
			t.Errorf("%q: read back as %+v", id, got)
		}
	}
}

func TestDelay(t *testing.T) {
	// Inside the bubble the clock moves only while everyone sleeps.
	synctest.Test(t, func(t *testing.T) {
		const delay = 10 * time.Millisecond
		w := New(Settings{HandlerDelay: delay})
		route := func() Reply { return w.Route(routes.Route{Method: "GET", Path: "/a"}, nil) }
		for name, f := range map[string]func() Reply{"Hello": w.Hello, "Index": w.Index, "Route": route} {
			start := time.Now()
			f()
			if took := time.Since(start); took != delay {
				t.Errorf("%s took %v, want %v", name, took, delay)
			}
		}
		start := time.Now()
		w.Welcome()
		w.Ping()
		w.Greet("ann")
		w.User("42")
		if took := time.Since(start); took != 0 {
			t.Errorf("the endpoints without a delay took %v", took)
		}
	})
}

func TestSubmit(t *testing.T) {
	w := New(Settings{})
	for _, body := range []string{`{"a": [1, 2.50,null]}`, " \n[ ]\n", `"x"`, "0"} {
		same(t, body, w.Submit(strings.NewReader(body)), 200, "application/json", body)
	}
	for _, body := range []string{"", "{", "{}{}", "nope"} {
		if got := w.Submit(strings.NewReader(body)).Status; got != http.StatusBadRequest {
			t.Errorf("%q: status %d", body, got)
		}
	}

	largest := `"` + strings.Repeat("x", SubmitLimit-2) + `"`
	same(t, "1 MiB", w.Submit(strings.NewReader(largest)), 200, "application/json", largest)
	if got := w.Submit(strings.NewReader(largest + " ")).Status; got != http.StatusRequestEntityTooLarge {
		t.Errorf("1 MiB and a byte: status %d", got)
	}

	broken := iotest.ErrReader(errors.New("gone"))
	if got := w.Submit(broken).Status; got != http.StatusBadRequest {
		t.Errorf("broken body: status %d", got)
	}
}

func TestHash(t *testing.T) {
	data := []byte("some data\n")
	file := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	w := New(Settings{DataFile: file})

	for _, c := range []struct {
		n      string
		passes int
		nonce  string
	}{{"1", 1, ""}, {"3", 3, "é&1"}, {"100000", 100_000, "x"}} {
		sum := sha256.Sum256(append(bytes.Repeat(data, c.passes), c.nonce...))
		same(t, "n="+c.n, w.Hash(c.n, c.nonce), 200, "text/plain; charset=utf-8", hex.EncodeToString(sum[:]))
	}
	for _, n := range []string{"", "0", "-1", "+1", "1.5", "100001", "99999999999999999999", "x"} {
		if got := w.Hash(n, "").Status; got != http.StatusBadRequest {
			t.Errorf("n=%q: status %d", n, got)
		}
	}

	if got := New(Settings{}).Hash("1", "").Status; got != http.StatusServiceUnavailable {
		t.Errorf("no data file: status %d", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := w.Hash("1", "").Status; got != http.StatusInternalServerError {
		t.Errorf("data file removed: status %d", got)
	}
}

func TestWhoAmINamesTheGoroutine(t *testing.T) {
	w := New(Settings{})
	here := string(w.WhoAmI().Body)
	if !regexp.MustCompile(`^goroutine [0-9]+$`).MatchString(here) {
		t.Errorf("got %q", here)
	}
	if again := string(w.WhoAmI().Body); again != here {
		t.Errorf("the same goroutine is %q and then %q", here, again)
	}
	other := make(chan string)
	go func() { other <- string(w.WhoAmI().Body) }()
	if got := <-other; got == here {
		t.Errorf("two goroutines are both %q", got)
	}
}
