// Command gorilla-mux is the target for gorilla/mux: a router from
// mux.NewRouter, without middleware.
package main

import (
	"net/http"

	"github.com/gorilla/mux"

	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	router := mux.NewRouter()

	router.HandleFunc("/ping", func(w http.ResponseWriter, r *http.Request) { do.Ping().Write(w) }).Methods("GET")
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			router.HandleFunc(route.Braces(), func(w http.ResponseWriter, r *http.Request) {
				do.Route(route, func(name string) string { return mux.Vars(r)[name] }).Write(w)
			}).Methods(route.Method)
		}
		return work.HTTPServer(s, router), nil
	}

	router.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { do.Welcome().Write(w) }).Methods("GET")
	router.HandleFunc("/rest/hello", func(w http.ResponseWriter, r *http.Request) { do.Hello().Write(w) }).Methods("GET")
	router.HandleFunc("/index", func(w http.ResponseWriter, r *http.Request) { do.Index().Write(w) }).Methods("GET")
	router.HandleFunc("/hello/{name}", func(w http.ResponseWriter, r *http.Request) { do.Greet(mux.Vars(r)["name"]).Write(w) }).Methods("GET")
	router.HandleFunc("/user/{id}", func(w http.ResponseWriter, r *http.Request) { do.User(mux.Vars(r)["id"]).Write(w) }).Methods("GET")
	router.HandleFunc("/submit", func(w http.ResponseWriter, r *http.Request) { do.Submit(r.Body).Write(w) }).Methods("POST")
	router.HandleFunc("/hash", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		do.Hash(q.Get("n"), q.Get("nonce")).Write(w)
	}).Methods("GET")
	router.HandleFunc("/whoami", func(w http.ResponseWriter, r *http.Request) { do.WhoAmI().Write(w) }).Methods("GET")
	return work.HTTPServer(s, router), nil
}
