//go:build go1.22
// +build go1.22

package main

import (
	"net/http"
	"strings"

	"bourdon.dev/targets/go/routes"
	"bourdon.dev/targets/go/work"
)

func newMux(s work.Settings, do *work.Work) (*http.ServeMux, error) {
	mux := http.NewServeMux()

	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, r *http.Request) {
		do.Ping().Write(w)
	})
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			mux.HandleFunc(pattern(route), func(w http.ResponseWriter, r *http.Request) {
				do.Route(route, r.PathValue).Write(w)
			})
		}
		return mux, nil
	}

	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		do.Welcome().Write(w)
	})
	mux.HandleFunc("GET /rest/hello", func(w http.ResponseWriter, r *http.Request) {
		do.Hello().Write(w)
	})
	mux.HandleFunc("GET /index", func(w http.ResponseWriter, r *http.Request) {
		do.Index().Write(w)
	})
	mux.HandleFunc("GET /hello/{name}", func(w http.ResponseWriter, r *http.Request) {
		do.Greet(r.PathValue("name")).Write(w)
	})
	mux.HandleFunc("GET /user/{id}", func(w http.ResponseWriter, r *http.Request) {
		do.User(r.PathValue("id")).Write(w)
	})
	mux.HandleFunc("POST /submit", func(w http.ResponseWriter, r *http.Request) {
		do.Submit(r.Body).Write(w)
	})
	mux.HandleFunc("GET /hash", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		do.Hash(q.Get("n"), q.Get("nonce")).Write(w)
	})
	mux.HandleFunc("GET /whoami", func(w http.ResponseWriter, r *http.Request) {
		do.WhoAmI().Write(w)
	})
	return mux, nil
}

// pattern is the route for the ServeMux, to which a slash at the end would
// mean everything below as well.
func pattern(r routes.Route) string {
	p := r.Method + " " + r.Braces()
	if strings.HasSuffix(p, "/") {
		p += "{$}"
	}
	return p
}
