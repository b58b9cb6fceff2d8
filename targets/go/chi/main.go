// Command chi is the target for go-chi/chi: a router from chi.NewRouter,
// without any of the middleware that chi offers.
package main

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	router := chi.NewRouter()

	router.Get("/ping", func(w http.ResponseWriter, r *http.Request) { do.Ping().Write(w) })
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			router.MethodFunc(route.Method, route.Braces(), func(w http.ResponseWriter, r *http.Request) {
				do.Route(route, func(name string) string { return param(r, name) }).Write(w)
			})
		}
		return work.HTTPServer(s, router), nil
	}

	router.Get("/", func(w http.ResponseWriter, r *http.Request) { do.Welcome().Write(w) })
	router.Get("/rest/hello", func(w http.ResponseWriter, r *http.Request) { do.Hello().Write(w) })
	router.Get("/index", func(w http.ResponseWriter, r *http.Request) { do.Index().Write(w) })
	router.Get("/hello/{name}", func(w http.ResponseWriter, r *http.Request) { do.Greet(param(r, "name")).Write(w) })
	router.Get("/user/{id}", func(w http.ResponseWriter, r *http.Request) { do.User(param(r, "id")).Write(w) })
	router.Post("/submit", func(w http.ResponseWriter, r *http.Request) { do.Submit(r.Body).Write(w) })
	router.Get("/hash", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		do.Hash(q.Get("n"), q.Get("nonce")).Write(w)
	})
	router.Get("/whoami", func(w http.ResponseWriter, r *http.Request) { do.WhoAmI().Write(w) })
	return work.HTTPServer(s, router), nil
}

// param is the part of the path that {name} stands for. chi matches the path
// as it was sent if its escapes are not the usual ones; they are then still to
// be undone, and must not be undone twice in all other cases.
func param(r *http.Request, name string) string {
	value := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return value
	}
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}
