// Command httprouter is the target for julienschmidt/httprouter on Go's own
// HTTP server. It is written for Go 1.9 and newer.
package main

import (
	"net/http"

	"github.com/julienschmidt/httprouter"

	"bourdon.dev/targets/go/routes"
	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	router := httprouter.New()

	router.GET("/ping", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		do.Ping().Write(w)
	})
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			router.Handle(route.Method, route.Path, answer(do, route))
		}
		return work.HTTPServer(s, router), nil
	}

	router.GET("/", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		do.Welcome().Write(w)
	})
	router.GET("/rest/hello", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		do.Hello().Write(w)
	})
	router.GET("/index", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		do.Index().Write(w)
	})
	router.GET("/hello/:name", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		do.Greet(p.ByName("name")).Write(w)
	})
	router.GET("/user/:id", func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		do.User(p.ByName("id")).Write(w)
	})
	router.POST("/submit", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		do.Submit(r.Body).Write(w)
	})
	router.GET("/hash", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		q := r.URL.Query()
		do.Hash(q.Get("n"), q.Get("nonce")).Write(w)
	})
	router.GET("/whoami", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		do.WhoAmI().Write(w)
	})
	return work.HTTPServer(s, router), nil
}

// answer is a function of its own because a loop variable, before Go 1.22, was
// shared by all rounds of the loop.
func answer(do *work.Work, route routes.Route) httprouter.Handle {
	return func(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
		do.Route(route, p.ByName).Write(w)
	}
}
