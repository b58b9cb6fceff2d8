// Command net-http is the target for Go's own HTTP server and its ServeMux.
// It is written for Go 1.9 and newer; how the ServeMux is used depends on what
// it can do, see mux.go and mux_old.go.
package main

import "bourdon.dev/targets/go/work"

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	mux, err := newMux(s, do)
	return work.HTTPServer(s, mux), err
}
