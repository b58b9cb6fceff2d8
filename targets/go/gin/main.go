// Command gin is the target for Gin: a bare engine in release mode, without
// the logger and recovery that gin.Default would add.
package main

import (
	"github.com/gin-gonic/gin"

	"bourdon.dev/targets/go/work"
)

func main() {
	gin.SetMode(gin.ReleaseMode)

	work.Main(func(s work.Settings, do *work.Work) work.Server {
		engine := gin.New()

		engine.GET("/", func(c *gin.Context) { send(c, do.Welcome()) })
		engine.GET("/rest/hello", func(c *gin.Context) { send(c, do.Hello()) })
		engine.GET("/index", func(c *gin.Context) { send(c, do.Index()) })
		engine.GET("/hello/:name", func(c *gin.Context) { send(c, do.Greet(c.Param("name"))) })
		engine.GET("/user/:id", func(c *gin.Context) { send(c, do.User(c.Param("id"))) })
		engine.GET("/ping", func(c *gin.Context) { send(c, do.Ping()) })
		engine.POST("/submit", func(c *gin.Context) { send(c, do.Submit(c.Request.Body)) })
		engine.GET("/hash", func(c *gin.Context) { send(c, do.Hash(c.Query("n"), c.Query("nonce"))) })
		engine.GET("/whoami", func(c *gin.Context) { send(c, do.WhoAmI()) })

		return work.HTTPServer(s, engine.Handler())
	})
}

func send(c *gin.Context, r work.Reply) {
	c.Data(r.Status, r.ContentType, r.Body)
}
