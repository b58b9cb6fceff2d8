//go:build !go1.22
// +build !go1.22

package main

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"

	"bourdon.dev/targets/go/work"
)

// newMux routes as it was done before Go 1.22, whose ServeMux knew paths and
// prefixes only: the handler looks at the method and cuts the prefix off.
func newMux(s work.Settings, do *work.Work) (*http.ServeMux, error) {
	if s.Routes != "" {
		return nil, fmt.Errorf("ROUTES=%q cannot be served by the ServeMux of %s, which has no patterns; leave it unset, or take Go 1.22 or newer", s.Routes, runtime.Version())
	}
	mux := http.NewServeMux()

	mux.HandleFunc("/", get(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		do.Welcome().Write(w)
	}))
	mux.HandleFunc("/rest/hello", get(func(w http.ResponseWriter, r *http.Request) {
		do.Hello().Write(w)
	}))
	mux.HandleFunc("/index", get(func(w http.ResponseWriter, r *http.Request) {
		do.Index().Write(w)
	}))
	mux.HandleFunc("/hello/", get(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := segment(w, r, "/hello/"); ok {
			do.Greet(name).Write(w)
		}
	}))
	mux.HandleFunc("/user/", get(func(w http.ResponseWriter, r *http.Request) {
		if id, ok := segment(w, r, "/user/"); ok {
			do.User(id).Write(w)
		}
	}))
	// The ServeMux would send these on to the path with a slash, which is none.
	mux.HandleFunc("/hello", http.NotFound)
	mux.HandleFunc("/user", http.NotFound)
	mux.HandleFunc("/ping", get(func(w http.ResponseWriter, r *http.Request) {
		do.Ping().Write(w)
	}))
	mux.HandleFunc("/submit", only(func(w http.ResponseWriter, r *http.Request) {
		do.Submit(r.Body).Write(w)
	}, "POST"))
	mux.HandleFunc("/hash", get(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		do.Hash(q.Get("n"), q.Get("nonce")).Write(w)
	}))
	mux.HandleFunc("/whoami", get(func(w http.ResponseWriter, r *http.Request) {
		do.WhoAmI().Write(w)
	}))
	return mux, nil
}

func get(h http.HandlerFunc) http.HandlerFunc { return only(h, "GET", "HEAD") }

// only lets the handler see requests with these methods alone.
func only(h http.HandlerFunc, methods ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, method := range methods {
			if r.Method == method {
				h(w, r)
				return
			}
		}
		w.Header().Set("Allow", strings.Join(methods, ", "))
		http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
	}
}

// segment is the one path segment after the prefix. Without one it answers
// 404 itself.
func segment(w http.ResponseWriter, r *http.Request, prefix string) (string, bool) {
	s := strings.TrimPrefix(r.URL.Path, prefix)
	if s == "" || strings.Contains(s, "/") {
		http.NotFound(w, r)
		return "", false
	}
	return s, true
}
