// Command iris is the target for Iris 12 as it is now: a bare application from
// iris.New with its log switched off, or the one of iris.Default.
package main

import (
	"net"

	"github.com/kataras/golog"
	"github.com/kataras/iris/v12"

	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	app, err := newApplication(s)
	if err != nil {
		return work.Server{}, err
	}

	renders, err := s.FrameworkRendering()
	if err != nil {
		return work.Server{}, err
	}
	ping := func(ctx iris.Context) { send(ctx, do.Ping()) }
	user := func(ctx iris.Context) { send(ctx, do.User(ctx.Params().Get("id"))) }
	if renders {
		ping = func(ctx iris.Context) { ctx.JSON(iris.Map{"message": "pong"}) }
		user = func(ctx iris.Context) { ctx.JSON(work.PersonOf(ctx.Params().Get("id"))) }
	}

	app.Get("/ping", ping)
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			app.Handle(route.Method, route.Braces(), func(ctx iris.Context) {
				send(ctx, do.Route(route, ctx.Params().Get))
			})
		}
	} else {
		app.Get("/", func(ctx iris.Context) { send(ctx, do.Welcome()) })
		app.Get("/rest/hello", func(ctx iris.Context) { send(ctx, do.Hello()) })
		app.Get("/index", func(ctx iris.Context) { send(ctx, do.Index()) })
		app.Get("/hello/{name}", func(ctx iris.Context) { send(ctx, do.Greet(ctx.Params().Get("name"))) })
		app.Get("/user/{id}", user)
		app.Post("/submit", func(ctx iris.Context) { send(ctx, do.Submit(ctx.Request().Body)) })
		app.Get("/hash", func(ctx iris.Context) {
			send(ctx, do.Hash(ctx.URLParam("n"), ctx.URLParam("nonce")))
		})
		app.Get("/whoami", func(ctx iris.Context) { send(ctx, do.WhoAmI()) })
	}

	return work.Server{
		Serve: func(ln net.Listener) error {
			return app.Run(
				iris.Listener(ln, func(host *iris.Supervisor) { s.Apply(host.Server) }),
				iris.WithoutStartupLog,
				iris.WithoutInterruptHandler, // package work stops the target
			)
		},
		Shutdown: app.Shutdown,
	}, nil
}

func newApplication(s work.Settings) (*iris.Application, error) {
	withMiddleware, err := s.DefaultMiddleware()
	if err != nil {
		return nil, err
	}
	if !withMiddleware {
		app := iris.New()
		app.Logger().SetLevel("disable")
		return app, nil
	}
	// iris.Default logs while it builds the application, so its log is given
	// its place beforehand.
	log, err := s.AccessLog()
	if err != nil {
		return nil, err
	}
	golog.SetOutput(log)
	return iris.Default(), nil
}

// send sets the content type as a plain header, because ctx.ContentType would
// add a charset to JSON.
func send(ctx iris.Context, r work.Reply) {
	ctx.Header("Content-Type", r.ContentType)
	ctx.StatusCode(r.Status)
	ctx.Write(r.Body)
}
