// Package drive tries every route of every set on a target's server. It is
// for the targets' tests.
package drive

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"bourdon.dev/targets/go/routes"
	"bourdon.dev/targets/go/work"
)

// Routes serves each set on a loopback port and tries each of its routes.
func Routes(t *testing.T, build work.Build) {
	for _, name := range routes.Names() {
		t.Run(name, func(t *testing.T) {
			ask := serve(t, build, work.Settings{Routes: name})
			for _, r := range routes.Set(name) {
				// One value is plain. The other has an escape that net/url would
				// not have written, so that the request's path is kept as sent.
				for _, value := range []string{"v1", "a%41 é"} {
					path, body := r.Path, r.Method+" "+r.Path
					for i, param := range r.Params {
						plain := value + string(rune('a'+i))
						path = strings.Replace(path, ":"+param, sent(plain), 1)
						body += " " + param + "=" + received(plain)
					}
					ask(r.Method, path, http.StatusOK, "text/plain; charset=utf-8", body)
				}
			}
			ask("GET", "/ping", http.StatusOK, "application/json", `{"message":"pong"}`)
			for _, path := range []string{"/whoami", "/rest/hello", "/hash", "/progs/no/such"} {
				ask("GET", path, http.StatusNotFound, "", "")
			}
		})
	}
}

// sent is a value as the client writes it in a path, and received is what the
// handler is then to see.
func sent(value string) string {
	return strings.Replace(url.PathEscape(value), "%2541", "%41", 1)
}

func received(value string) string { return strings.Replace(value, "%41", "A", 1) }

// serve runs the target's server and returns what asks it. An empty content
// type stands for an answer of which the status alone counts.
func serve(t *testing.T, build work.Build, s work.Settings) func(method, path string, status int, contentType, body string) {
	t.Helper()
	server, err := build(s, work.New(s))
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(ln)
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(func() {
		client.CloseIdleConnections() // fasthttp waits for its clients to go
		server.Shutdown(context.Background())
	})

	return func(method, path string, status int, contentType, body string) {
		t.Helper()
		req, err := http.NewRequest(method, "http://"+ln.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		got, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != status {
			t.Errorf("%s %s: status %d, want %d", method, path, resp.StatusCode, status)
		} else if contentType != "" && (string(got) != body || resp.Header.Get("Content-Type") != contentType) {
			t.Errorf("%s %s: got %q %q, want %q %q", method, path, resp.Header.Get("Content-Type"), got, contentType, body)
		}
	}
}
