// Command gin is the target for Gin in release mode: a bare engine, or the one
// of gin.Default with its logger and recovery.
package main

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"bourdon.dev/targets/go/work"
)

func main() { work.Main(build) }

func build(s work.Settings, do *work.Work) (work.Server, error) {
	engine, err := newEngine(s)
	if err != nil {
		return work.Server{}, err
	}

	renders, err := s.FrameworkRendering()
	if err != nil {
		return work.Server{}, err
	}
	ping := func(c *gin.Context) { send(c, do.Ping()) }
	user := func(c *gin.Context) { send(c, do.User(c.Param("id"))) }
	if renders {
		ping = func(c *gin.Context) { c.JSON(http.StatusOK, gin.H{"message": "pong"}) }
		user = func(c *gin.Context) { c.JSON(http.StatusOK, work.PersonOf(c.Param("id"))) }
	}

	engine.GET("/ping", ping)
	if s.Routes != "" {
		for _, route := range s.RouteSet() {
			engine.Handle(route.Method, route.Path, func(c *gin.Context) { send(c, do.Route(route, c.Param)) })
		}
		return work.HTTPServer(s, engine.Handler()), nil
	}

	engine.GET("/", func(c *gin.Context) { send(c, do.Welcome()) })
	engine.GET("/rest/hello", func(c *gin.Context) { send(c, do.Hello()) })
	engine.GET("/index", func(c *gin.Context) { send(c, do.Index()) })
	engine.GET("/hello/:name", func(c *gin.Context) { send(c, do.Greet(c.Param("name"))) })
	engine.GET("/user/:id", user)
	engine.POST("/submit", func(c *gin.Context) { send(c, do.Submit(c.Request.Body)) })
	engine.GET("/hash", func(c *gin.Context) { send(c, do.Hash(c.Query("n"), c.Query("nonce"))) })
	engine.GET("/whoami", func(c *gin.Context) { send(c, do.WhoAmI()) })
	return work.HTTPServer(s, engine.Handler()), nil
}

func newEngine(s work.Settings) (*gin.Engine, error) {
	gin.SetMode(gin.ReleaseMode)
	withMiddleware, err := s.DefaultMiddleware()
	if err != nil || !withMiddleware {
		return gin.New(), err
	}
	// The logger takes its writer when it is made.
	gin.DefaultWriter, err = s.AccessLog()
	if err != nil {
		return nil, err
	}
	return gin.Default(), nil
}

func send(c *gin.Context, r work.Reply) {
	c.Data(r.Status, r.ContentType, r.Body)
}
