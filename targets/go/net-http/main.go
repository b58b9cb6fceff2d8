// Command net-http is the target for Go's own HTTP server and its ServeMux.
package main

import (
	"net/http"

	"bourdon.dev/targets/go/work"
)

func main() {
	work.Main(func(s work.Settings, do *work.Work) work.Server {
		mux := http.NewServeMux()

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
		mux.HandleFunc("GET /ping", func(w http.ResponseWriter, r *http.Request) {
			do.Ping().Write(w)
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

		return work.HTTPServer(s, mux)
	})
}
