// Command net-http-work does one kind of work behind one path, with Go's own
// HTTP server: it waits, computes, reads a file, asks a database or another
// server, each in the way that is usual in Go.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"

	"bourdon.dev/targets/go/work"
)

const text = "text/plain; charset=utf-8"

// keys is how many there are: 1 and up.
const keys = 1000

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	doing, err := kindOf(os.Getenv, s.HandlerDelay)
	if err != nil {
		return work.Server{}, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /ping", func(w http.ResponseWriter, r *http.Request) {
		do.Ping().Write(w)
	})
	mux.HandleFunc("GET /work", func(w http.ResponseWriter, r *http.Request) {
		reply(r, doing).Write(w)
	})
	return work.HTTPServer(s, mux), nil
}

func reply(r *http.Request, doing kind) work.Reply {
	key, err := strconv.Atoi(r.URL.Query().Get("key"))
	if err != nil || key < 1 || key > keys {
		return work.Reply{Status: http.StatusBadRequest, ContentType: text, Body: []byte("key must be a whole number from 1 to 1000\n")}
	}
	value, err := doing(r.Context(), key)
	if err != nil {
		return work.Reply{Status: http.StatusInternalServerError, ContentType: text, Body: []byte(fmt.Sprintf("the work failed: %v\n", err))}
	}
	return work.Reply{Status: http.StatusOK, ContentType: text, Body: []byte(value)}
}
