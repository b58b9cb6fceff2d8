// Command iris-2016 is a reconstruction: bourdon's own model of how Iris, as
// it was in April 2016, is described to have treated concurrent requests. It
// holds no code of Iris. See router.go for the behaviour it models; the
// server underneath is Go's own.
package main

import "bourdon.dev/targets/go/work"

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	router := NewRouter()

	router.Get("/ping", func(c *Context) { c.Send(do.Ping()) })
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			router.Handle(route.Method, route.Path, func(c *Context) { c.Send(do.Route(route, c.Param)) })
		}
		return work.HTTPServer(s, router), nil
	}

	router.Get("/", func(c *Context) { c.Send(do.Welcome()) })
	router.Get("/rest/hello", func(c *Context) { c.Send(do.Hello()) })
	router.Get("/index", func(c *Context) { c.Send(do.Index()) })
	router.Get("/hello/:name", func(c *Context) { c.Send(do.Greet(c.Param("name"))) })
	router.Get("/user/:id", func(c *Context) { c.Send(do.User(c.Param("id"))) })
	router.Post("/submit", func(c *Context) { c.Send(do.Submit(c.Request.Body)) })
	router.Get("/hash", func(c *Context) {
		q := c.Request.URL.Query()
		c.Send(do.Hash(q.Get("n"), q.Get("nonce")))
	})
	router.Get("/whoami", func(c *Context) { c.Send(do.WhoAmI()) })
	return work.HTTPServer(s, router), nil
}
