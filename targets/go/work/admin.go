package work

import (
	"net/http"
	"net/http/pprof"
)

// adminHandler serves the figures of the Go runtime and of the process under
// /metrics, and the profiles under /debug/pprof/.
func adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metrics", metricsHandler())
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}
