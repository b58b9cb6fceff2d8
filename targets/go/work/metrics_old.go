//go:build !go1.26
// +build !go1.26

package work

import "net/http"

func metricsHandler() http.Handler { return http.HandlerFunc(exposition) }
