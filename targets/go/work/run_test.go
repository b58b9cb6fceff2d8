package work

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

func loopback(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln
}

func TestServeUntilTold(t *testing.T) {
	ln := loopback(t)
	ctx, stop := context.WithCancel(t.Context())
	w := New(Settings{})
	server := HTTPServer(Settings{}, http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		w.Ping().Write(rw)
	}))
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, ln, server, time.Minute) }()

	resp, err := http.Get("http://" + ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || string(body) != `{"message":"pong"}` || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %q %q, %v", resp.Header.Get("Content-Type"), body, err)
	}

	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestServeLetsRequestsInFlightEnd(t *testing.T) {
	ln := loopback(t)
	ctx, stop := context.WithCancel(t.Context())
	entered, gate := make(chan struct{}), make(chan struct{})
	srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-gate
		io.WriteString(rw, "done")
	})}
	srv.RegisterOnShutdown(func() { close(gate) })
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, ln, Server{srv.Serve, srv.Shutdown}, time.Minute) }()

	answer := make(chan string, 1)
	go func() {
		resp, err := http.Get("http://" + ln.Addr().String())
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		body, _ := io.ReadAll(resp.Body)
		answer <- string(body)
	}()

	<-entered
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := <-answer; got != "done" {
		t.Errorf("the request in flight got %q", got)
	}
}

func TestServeGivesUpOnRequestsThatDoNotEnd(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	gate := make(chan struct{})
	defer close(gate)
	stop()
	// Neither function minds being told to stop, yet serve has to return.
	err := serve(ctx, loopback(t), Server{
		Serve:    func(net.Listener) error { <-gate; return nil },
		Shutdown: func(context.Context) error { <-gate; return nil },
	}, time.Millisecond)
	if err != nil {
		t.Error(err)
	}
}

func TestServeReportsAServerThatFails(t *testing.T) {
	for _, cause := range []error{errors.New("broken"), nil} {
		err := serve(t.Context(), loopback(t), Server{
			Serve:    func(net.Listener) error { return cause },
			Shutdown: func(context.Context) error { return nil },
		}, time.Minute)
		if err == nil || cause != nil && !strings.Contains(err.Error(), cause.Error()) {
			t.Errorf("cause %v: got %v", cause, err)
		}
	}
}

func noServer(t *testing.T) Build {
	return func(Settings, *Work) (Server, error) {
		return Server{Serve: func(net.Listener) error {
			t.Error("the server was started")
			return nil
		}}, nil
	}
}

func TestRunRefusesBadSettings(t *testing.T) {
	var stderr bytes.Buffer
	status := run(t.Context(), "target", env("PORT", "x"), &stderr, noServer(t))
	if status != 2 {
		t.Errorf("status %d", status)
	}
	if got := stderr.String(); !strings.HasPrefix(got, `target: PORT="x"`) || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr is %q", got)
	}
}

func TestRunRefusesWhatTheTargetRefuses(t *testing.T) {
	var stderr bytes.Buffer
	refuse := func(s Settings, _ *Work) (Server, error) {
		_, err := s.DefaultMiddleware()
		return Server{}, err
	}
	// Were it to listen before it asks the target, this would be status 1.
	taken := strconv.Itoa(loopback(t).Addr().(*net.TCPAddr).Port)
	if status := run(t.Context(), "target", env("PORT", taken, "MIDDLEWARE", "all"), &stderr, refuse); status != 2 {
		t.Errorf("status %d", status)
	}
	if got := stderr.String(); !strings.HasPrefix(got, `target: MIDDLEWARE="all"`) || strings.Count(got, "\n") != 1 {
		t.Errorf("stderr is %q", got)
	}
}

func TestRunReportsATakenPort(t *testing.T) {
	taken := strconv.Itoa(loopback(t).Addr().(*net.TCPAddr).Port)
	other := "1"
	if taken == other {
		other = "2"
	}
	for name, getenv := range map[string]func(string) string{
		"PORT":       env("PORT", taken),
		"ADMIN_PORT": env("PORT", other, "ADMIN_PORT", taken),
	} {
		var stderr bytes.Buffer
		if status := run(t.Context(), "target", getenv, &stderr, noServer(t)); status != 1 {
			t.Errorf("%s: status %d", name, status)
		}
		got := stderr.String()
		if !strings.HasPrefix(got, "target: "+name+"="+taken) || !strings.Contains(got, "already in use") || strings.Count(got, "\n") != 1 {
			t.Errorf("%s: stderr is %q", name, got)
		}
	}
}

func TestAdmin(t *testing.T) {
	admin := adminHandler()
	for path, part := range map[string]string{
		"/metrics":                       "go_goroutines ",
		"/debug/pprof/":                  "goroutine",
		"/debug/pprof/goroutine?debug=1": "goroutine profile:",
	} {
		rec := httptest.NewRecorder()
		admin.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
		if rec.Code != http.StatusOK || !strings.Contains(rec.Body.String(), part) {
			t.Errorf("%s: status %d, without %q", path, rec.Code, part)
		}
	}
	rec := httptest.NewRecorder()
	admin.ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	if !strings.Contains(rec.Body.String(), "process_cpu_seconds_total ") {
		t.Error("/metrics: without the figures of the process")
	}
}
