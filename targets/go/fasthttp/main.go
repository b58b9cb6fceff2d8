// Command fasthttp is the target for fasthttp, which does not use net/http,
// with the router made for it.
package main

import (
	"bytes"
	"errors"
	"net"
	"net/url"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	routes := router.New()

	routes.GET("/ping", func(ctx *fasthttp.RequestCtx) { send(ctx, do.Ping()) })
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			routes.Handle(route.Method, route.Braces(), func(ctx *fasthttp.RequestCtx) {
				send(ctx, do.Route(route, func(name string) string { return param(ctx, name) }))
			})
		}
	} else {
		routes.GET("/", func(ctx *fasthttp.RequestCtx) { send(ctx, do.Welcome()) })
		routes.GET("/rest/hello", func(ctx *fasthttp.RequestCtx) { send(ctx, do.Hello()) })
		routes.GET("/index", func(ctx *fasthttp.RequestCtx) { send(ctx, do.Index()) })
		routes.GET("/hello/{name}", func(ctx *fasthttp.RequestCtx) { send(ctx, do.Greet(param(ctx, "name"))) })
		routes.GET("/user/{id}", func(ctx *fasthttp.RequestCtx) { send(ctx, do.User(param(ctx, "id"))) })
		routes.POST("/submit", func(ctx *fasthttp.RequestCtx) {
			send(ctx, do.Submit(bytes.NewReader(ctx.PostBody())))
		})
		routes.GET("/hash", func(ctx *fasthttp.RequestCtx) {
			q := ctx.QueryArgs()
			send(ctx, do.Hash(string(q.Peek("n")), string(q.Peek("nonce"))))
		})
		routes.GET("/whoami", func(ctx *fasthttp.RequestCtx) { send(ctx, do.WhoAmI()) })
	}

	server := &fasthttp.Server{
		Handler:      routes.Handler,
		ErrorHandler: onError,
		ReadTimeout:  s.ReadTimeout,
		WriteTimeout: s.WriteTimeout,
		IdleTimeout:  s.IdleTimeout,
	}
	return work.Server{Serve: server.Serve, Shutdown: server.ShutdownWithContext}, nil
}

func send(ctx *fasthttp.RequestCtx, r work.Reply) {
	ctx.SetStatusCode(r.Status)
	ctx.SetContentType(r.ContentType)
	ctx.SetBody(r.Body)
}

// param is the part of the path that {name} stands for. This router matches
// the path as it was sent, so percent escapes are still to be undone.
func param(ctx *fasthttp.RequestCtx, name string) string {
	value, _ := ctx.UserValue(name).(string)
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}

// onError answers what fasthttp could not read as a request. It does as
// fasthttp's own error handler does, except that a body over fasthttp's limit
// (4 MiB) gets status 413, like one over the limit of /submit.
func onError(ctx *fasthttp.RequestCtx, err error) {
	var small *fasthttp.ErrSmallBuffer
	var op *net.OpError
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		send(ctx, work.TooLarge)
	case errors.As(err, &small):
		ctx.Error("Too big request header", fasthttp.StatusRequestHeaderFieldsTooLarge)
	case errors.As(err, &op) && op.Timeout():
		ctx.Error("Request timeout", fasthttp.StatusRequestTimeout)
	default:
		ctx.Error("Error when parsing request", fasthttp.StatusBadRequest)
	}
}
