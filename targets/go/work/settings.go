package work

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bourdon.dev/targets/go/routes"
)

// thisMachine is where a target listens unless ADDRESS says otherwise, and its
// admin server always.
const thisMachine = "127.0.0.1"

// Settings is what a target is told through its environment. The zero value
// of every duration means "none".
type Settings struct {
	Address   string // where it listens with Port
	Port      int
	AdminPort int // 0: no admin server

	HandlerDelay time.Duration

	ReadTimeout       time.Duration
	ReadHeaderTimeout time.Duration
	WriteTimeout      time.Duration
	IdleTimeout       time.Duration

	TLS *tls.Config // nil: no TLS

	DataFile string // empty: /hash is not available

	// Routes names the set of routes that is served, with /ping, instead of
	// the contract's own paths; empty: none.
	Routes string

	middleware string // only some targets understand it, and check it
	rendering  string // likewise
	scratch    string // a folder for what the target writes; empty: none
}

// SettingsFrom reads the settings with getenv. An error is one line that
// names the variable, its value and the cure.
func SettingsFrom(getenv func(string) string) (Settings, error) {
	var s Settings
	var err error

	if getenv("PORT") == "" {
		return s, fmt.Errorf("PORT is not set; set it to the TCP port to listen on, such as PORT=8080")
	}
	if s.Port, err = port(getenv, "PORT"); err != nil {
		return s, err
	}
	if s.Address, err = address(getenv); err != nil {
		return s, err
	}
	if getenv("ADMIN_PORT") != "" {
		if s.AdminPort, err = port(getenv, "ADMIN_PORT"); err != nil {
			return s, err
		}
		if s.AdminPort == s.Port {
			return s, fmt.Errorf("ADMIN_PORT=%d is the same as PORT; give it a port of its own or leave it unset", s.AdminPort)
		}
	}

	for _, d := range []struct {
		name string
		into *time.Duration
	}{
		{"HANDLER_DELAY", &s.HandlerDelay},
		{"READ_TIMEOUT", &s.ReadTimeout},
		{"READ_HEADER_TIMEOUT", &s.ReadHeaderTimeout},
		{"WRITE_TIMEOUT", &s.WriteTimeout},
		{"IDLE_TIMEOUT", &s.IdleTimeout},
	} {
		if *d.into, err = duration(getenv, d.name); err != nil {
			return s, err
		}
	}

	s.DataFile = getenv("DATA_FILE")
	if s.DataFile != "" {
		if err := readable(s.DataFile); err != nil {
			return s, fmt.Errorf("DATA_FILE=%q cannot be used (%v); set it to a file this process can read, or leave it unset to do without /hash", s.DataFile, err)
		}
	}

	if s.TLS, err = secured(getenv); err != nil {
		return s, err
	}

	s.Routes = getenv("ROUTES")
	if s.Routes != "" && s.RouteSet() == nil {
		return s, fmt.Errorf("ROUTES=%q is not a set of routes; set it to one of %s, or leave it unset", s.Routes, strings.Join(routes.Names(), ", "))
	}
	s.middleware = getenv("MIDDLEWARE")
	s.rendering = getenv("RENDERING")
	s.scratch = getenv("SCRATCH")
	return s, nil
}

// RouteSet is the set of routes that Routes names.
func (s Settings) RouteSet() []routes.Route { return routes.Set(s.Routes) }

// DefaultMiddleware says whether MIDDLEWARE asks for the framework's default
// constructor, with all that it adds, rather than for the bare one. It is for
// the targets whose framework has both.
func (s Settings) DefaultMiddleware() (bool, error) {
	return either("MIDDLEWARE", s.middleware, "bare", "default")
}

// FrameworkRendering says whether RENDERING asks that the framework makes the
// JSON of /ping and /user/:id from a value, as its users have it, rather than
// sends bytes that are there already. It is for the targets whose framework
// renders JSON.
func (s Settings) FrameworkRendering() (bool, error) {
	return either("RENDERING", s.rendering, "bytes", "framework")
}

// either says whether a setting is the other one of two values; empty is the
// usual one.
func either(name, value, usual, other string) (bool, error) {
	switch value {
	case "", usual:
		return false, nil
	case other:
		return true, nil
	}
	return false, fmt.Errorf("%s=%q is not known; set it to %s or %s, or leave it unset", name, value, usual, other)
}

// AccessLog is where a framework that keeps a log writes it: the file
// access.log in SCRATCH, or stdout without it. It is open until the process
// ends.
func (s Settings) AccessLog() (io.Writer, error) {
	if s.scratch == "" {
		return os.Stdout, nil
	}
	f, err := os.OpenFile(filepath.Join(s.scratch, "access.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0600)
	if err != nil {
		return nil, fmt.Errorf("SCRATCH=%q cannot hold access.log (%v); set it to a folder this process can write to, or leave it unset", s.scratch, unwrapPath(err))
	}
	return f, nil
}

func address(getenv func(string) string) (string, error) {
	text := getenv("ADDRESS")
	if text == "" {
		return thisMachine, nil
	}
	if ip := net.ParseIP(text); ip == nil || strings.Contains(text, ":") {
		return "", fmt.Errorf("ADDRESS=%q is not an IPv4 address; set it to such as 0.0.0.0, or leave it unset for %s", text, thisMachine)
	}
	return text, nil
}

func port(getenv func(string) string, name string) (int, error) {
	text := getenv(name)
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%s=%q is not a TCP port; set it to a whole number from 1 to 65535", name, text)
	}
	return int(n), nil
}

func duration(getenv func(string) string, name string) (time.Duration, error) {
	text := getenv(name)
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%s=%q is not a duration; set it to a number with a unit, such as 10ms or 1s, or leave it unset", name, text)
	}
	return d, nil
}

// secured is how the server speaks TLS, with the certificate in the file
// TLS_CERT and its key in TLS_KEY: over HTTP/1.1 alone, as all targets do.
func secured(getenv func(string) string) (*tls.Config, error) {
	cert, key := getenv("TLS_CERT"), getenv("TLS_KEY")
	if cert == "" && key == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("TLS_CERT=%q with TLS_KEY=%q cannot be used (%v); set them to a certificate and its key as PEM files, or leave both unset", cert, key, err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"http/1.1"}}, nil
}

// readable says why the file at path cannot serve as the data of /hash.
func readable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return unwrapPath(err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return unwrapPath(err)
	}
	return f.Close()
}

// unwrapPath drops the path from a file error, where the message around it
// already names the path.
func unwrapPath(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}
