// Command fiber is the target for Fiber, which stands on fasthttp and not on
// net/http: an app from fiber.New, without any of the middleware that Fiber
// offers.
package main

import (
	"bytes"
	"net"
	"net/url"

	"github.com/gofiber/fiber/v3"

	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	app := fiber.New(fiber.Config{
		ReadTimeout:  s.ReadTimeout,
		WriteTimeout: s.WriteTimeout,
		IdleTimeout:  s.IdleTimeout,
	})

	app.Get("/ping", func(c fiber.Ctx) error { return send(c, do.Ping()) })
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			app.Add([]string{route.Method}, route.Path, func(c fiber.Ctx) error {
				return send(c, do.Route(route, func(name string) string { return param(c, name) }))
			})
		}
	} else {
		app.Get("/", func(c fiber.Ctx) error { return send(c, do.Welcome()) })
		app.Get("/rest/hello", func(c fiber.Ctx) error { return send(c, do.Hello()) })
		app.Get("/index", func(c fiber.Ctx) error { return send(c, do.Index()) })
		app.Get("/hello/:name", func(c fiber.Ctx) error { return send(c, do.Greet(param(c, "name"))) })
		app.Get("/user/:id", func(c fiber.Ctx) error { return send(c, do.User(param(c, "id"))) })
		app.Post("/submit", func(c fiber.Ctx) error { return send(c, do.Submit(bytes.NewReader(c.Body()))) })
		app.Get("/hash", func(c fiber.Ctx) error { return send(c, do.Hash(c.Query("n"), c.Query("nonce"))) })
		app.Get("/whoami", func(c fiber.Ctx) error { return send(c, do.WhoAmI()) })
	}

	return work.Server{
		Serve: func(ln net.Listener) error {
			return app.Listener(ln, fiber.ListenConfig{DisableStartupMessage: true})
		},
		Shutdown: app.ShutdownWithContext,
	}, nil
}

func send(c fiber.Ctx, r work.Reply) error {
	c.Set(fiber.HeaderContentType, r.ContentType)
	return c.Status(r.Status).Send(r.Body)
}

// param is the part of the path that :name stands for. Fiber matches the path
// as it was sent, so percent escapes are still to be undone.
func param(c fiber.Ctx, name string) string {
	value := c.Params(name)
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}
