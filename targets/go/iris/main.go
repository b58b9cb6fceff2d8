// Command iris is the target for Iris 12 as it is now: a bare application
// from iris.New, with its log switched off.
package main

import (
	"net"

	"github.com/kataras/iris/v12"

	"bourdon.dev/targets/go/work"
)

func main() {
	work.Main(func(s work.Settings, do *work.Work) work.Server {
		app := iris.New()
		app.Logger().SetLevel("disable")

		app.Get("/", func(ctx iris.Context) { send(ctx, do.Welcome()) })
		app.Get("/rest/hello", func(ctx iris.Context) { send(ctx, do.Hello()) })
		app.Get("/index", func(ctx iris.Context) { send(ctx, do.Index()) })
		app.Get("/hello/{name}", func(ctx iris.Context) { send(ctx, do.Greet(ctx.Params().Get("name"))) })
		app.Get("/user/{id}", func(ctx iris.Context) { send(ctx, do.User(ctx.Params().Get("id"))) })
		app.Get("/ping", func(ctx iris.Context) { send(ctx, do.Ping()) })
		app.Post("/submit", func(ctx iris.Context) { send(ctx, do.Submit(ctx.Request().Body)) })
		app.Get("/hash", func(ctx iris.Context) {
			send(ctx, do.Hash(ctx.URLParam("n"), ctx.URLParam("nonce")))
		})
		app.Get("/whoami", func(ctx iris.Context) { send(ctx, do.WhoAmI()) })

		return work.Server{
			Serve: func(ln net.Listener) error {
				return app.Run(
					iris.Listener(ln, func(host *iris.Supervisor) { s.Apply(host.Server) }),
					iris.WithoutStartupLog,
					iris.WithoutInterruptHandler, // package work stops the target
				)
			},
			Shutdown: app.Shutdown,
		}
	})
}

// send sets the content type as a plain header, because ctx.ContentType would
// add a charset to JSON.
func send(ctx iris.Context, r work.Reply) {
	ctx.Header("Content-Type", r.ContentType)
	ctx.StatusCode(r.Status)
	ctx.Write(r.Body)
}
