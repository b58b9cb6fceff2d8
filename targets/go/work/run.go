package work

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// grace is how long requests in flight may take to end once the target has
// been told to stop. What has not ended by then is cut off.
const grace = time.Second

// Exit statuses of a target.
const (
	exitOK    = 0
	exitServe = 1 // could not listen, or the server failed
	exitUsage = 2 // a bad or missing setting
)

// Server is a framework's server, ready to be started.
type Server struct {
	// Serve answers connections from the listener until Shutdown.
	Serve func(net.Listener) error
	// Shutdown stops taking connections and waits for the requests in
	// flight, or for the end of the context.
	Shutdown func(context.Context) error
}

// HTTPServer is a net/http server for the handler, with the timeouts from
// the settings and nothing else changed.
func HTTPServer(s Settings, h http.Handler) Server {
	srv := &http.Server{Handler: h}
	s.Apply(srv)
	return Server{Serve: srv.Serve, Shutdown: srv.Shutdown}
}

// Apply sets the timeouts of a net/http server.
func (s Settings) Apply(srv *http.Server) {
	srv.ReadTimeout = s.ReadTimeout
	srv.ReadHeaderTimeout = s.ReadHeaderTimeout
	srv.WriteTimeout = s.WriteTimeout
	srv.IdleTimeout = s.IdleTimeout
}

// Build makes a target's server. It does not listen yet; an error is a setting
// that this target cannot follow, in one line.
type Build func(Settings, *Work) (Server, error)

// Main is the whole life of a target: read the settings, build the server,
// listen, serve until SIGTERM or an interrupt, and exit.
func Main(build Build) {
	ctx, stop := context.WithCancel(context.Background())
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-told
		stop()
	}()
	os.Exit(run(ctx, filepath.Base(os.Args[0]), os.Getenv, os.Stderr, build))
}

func run(ctx context.Context, name string, getenv func(string) string, stderr io.Writer, build Build) int {
	fail := func(status int, err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", name, err)
		return status
	}
	s, err := SettingsFrom(getenv)
	if err != nil {
		return fail(exitUsage, err)
	}
	server, err := build(s, New(s))
	if err != nil {
		return fail(exitUsage, err)
	}

	if s.AdminPort != 0 {
		ln, err := listen("ADMIN_PORT", thisMachine, s.AdminPort)
		if err != nil {
			return fail(exitServe, err)
		}
		defer ln.Close()
		go http.Serve(ln, adminHandler()) // ends with the listener
	}
	ln, err := listen("PORT", s.Address, s.Port)
	if err != nil {
		return fail(exitServe, err)
	}
	if s.TLS != nil {
		ln = tls.NewListener(ln, s.TLS)
	}
	if err = serve(ctx, ln, server, grace); err != nil {
		return fail(exitServe, err)
	}
	return exitOK
}

func listen(name, address string, port int) (net.Listener, error) {
	addr := net.JoinHostPort(address, strconv.Itoa(port))
	ln, err := net.Listen("tcp4", addr)
	if cause(err) == syscall.EADDRINUSE {
		return nil, fmt.Errorf("%s=%d: %s is already in use; stop what listens there or set %s to a free port", name, port, addr, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s=%d: cannot listen on %s (%v); set %s to a port this process may use", name, port, addr, err, name)
	}
	return ln, nil
}

// cause is the error of the system call below the error of a listener.
func cause(err error) error {
	if e, ok := err.(*net.OpError); ok {
		err = e.Err
	}
	if e, ok := err.(*os.SyscallError); ok {
		err = e.Err
	}
	return err
}

// serve runs the server until it fails or ctx ends. After the end of ctx it
// waits at most wait for the requests in flight; the caller is then expected
// to exit, which cuts off the rest.
func serve(ctx context.Context, ln net.Listener, server Server, wait time.Duration) error {
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()

	select {
	case err := <-failed:
		if err == nil {
			err = errors.New("it returned without an error")
		}
		return fmt.Errorf("the server stopped by itself: %v", err)
	case <-ctx.Done():
	}

	ending, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		server.Shutdown(ending) // its only news is that requests were left over
		close(ended)
	}()
	// Not every framework's Shutdown minds its context.
	select {
	case <-ended:
	case <-ending.Done():
	}
	return nil
}
