// Command echo is the target for Echo: an instance from echo.New, without any
// of the middleware that Echo offers.
package main

import (
	"net"
	"net/url"

	"github.com/labstack/echo/v4"

	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	e := echo.New()
	e.HideBanner = true
	e.HidePort = true
	s.Apply(e.Server)

	e.GET("/ping", func(c echo.Context) error { return send(c, do.Ping()) })
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			e.Add(route.Method, route.Path, func(c echo.Context) error {
				return send(c, do.Route(route, func(name string) string { return param(c, name) }))
			})
		}
	} else {
		e.GET("/", func(c echo.Context) error { return send(c, do.Welcome()) })
		e.GET("/rest/hello", func(c echo.Context) error { return send(c, do.Hello()) })
		e.GET("/index", func(c echo.Context) error { return send(c, do.Index()) })
		e.GET("/hello/:name", func(c echo.Context) error { return send(c, do.Greet(param(c, "name"))) })
		e.GET("/user/:id", func(c echo.Context) error { return send(c, do.User(param(c, "id"))) })
		e.POST("/submit", func(c echo.Context) error { return send(c, do.Submit(c.Request().Body)) })
		e.GET("/hash", func(c echo.Context) error {
			return send(c, do.Hash(c.QueryParam("n"), c.QueryParam("nonce")))
		})
		e.GET("/whoami", func(c echo.Context) error { return send(c, do.WhoAmI()) })
	}

	return work.Server{
		Serve: func(ln net.Listener) error {
			e.Listener = ln
			return e.Start("") // the listener has the address
		},
		Shutdown: e.Shutdown,
	}, nil
}

func send(c echo.Context, r work.Reply) error {
	return c.Blob(r.Status, r.ContentType, r.Body)
}

// param is the part of the path that :name stands for. Echo matches the path
// as it was sent if its escapes are not the usual ones; they are then still to
// be undone, and must not be undone twice in all other cases.
func param(c echo.Context, name string) string {
	value := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return value
	}
	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}
	return value
}
