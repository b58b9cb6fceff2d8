package main

import (
	"net/http"
	"strings"
	"sync"

	"bourdon.dev/targets/go/work"
)

// Router is a reconstruction, modelled on a published description of Iris as
// it was in April 2016, not on its code: the first request for a method and
// path builds a request context, which is cached; every later request for the
// same method and path is given that same context. As a context serves one
// request at a time, requests for one path run one after the other, each
// holding the context for as long as its handler runs, sleep included, while
// requests for other paths go on undisturbed.
//
// The path is the request's path as sent (/hello/a and /hello/b are two),
// without the query. A context stays cached for the life of the process.
// Paths without a route are answered 404 and are not cached.
type Router struct {
	routes []route

	mu       sync.RWMutex // guards the map, never held while a handler runs
	contexts map[key]*Context
}

// Handler answers one request. The context is its own until it returns.
type Handler func(*Context)

// Context is one method and path's request context, shared by all requests
// for it.
type Context struct {
	Writer  http.ResponseWriter
	Request *http.Request

	params  map[string]string // the same for every request: they come from the path
	handler Handler

	// inUse is a lock: it holds one value while a request has the context.
	// A channel, unlike a sync.Mutex, strictly serves those who wait in the
	// order in which they came.
	inUse chan struct{}
}

// Param is the part of the path that a ":name" in the route stands for.
func (c *Context) Param(name string) string { return c.params[name] }

// Send writes the reply.
func (c *Context) Send(r work.Reply) { r.Write(c.Writer) }

// use runs the handler for one request, alone.
func (c *Context) use(w http.ResponseWriter, r *http.Request) {
	c.inUse <- struct{}{}
	defer func() {
		c.Writer, c.Request = nil, nil
		<-c.inUse
	}()
	c.Writer, c.Request = w, r
	c.handler(c)
}

type route struct {
	method   string
	segments []string // of the pattern, split at "/"
	handler  Handler
}

type key struct{ method, path string }

// NewRouter returns a router without routes. Routes are added before the
// first request.
func NewRouter() *Router {
	return &Router{contexts: make(map[key]*Context)}
}

// Get adds a route for GET. A segment ":name" of the pattern stands for any
// one segment that is not empty.
func (rt *Router) Get(pattern string, h Handler) { rt.Handle(http.MethodGet, pattern, h) }

// Post adds a route for POST.
func (rt *Router) Post(pattern string, h Handler) { rt.Handle(http.MethodPost, pattern, h) }

// Handle adds a route for any method.
func (rt *Router) Handle(method, pattern string, h Handler) {
	rt.routes = append(rt.routes, route{method, strings.Split(pattern, "/"), h})
}

// ServeHTTP answers the request with the context of its method and path.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := rt.context(key{r.Method, r.URL.Path})
	if c == nil {
		http.NotFound(w, r)
		return
	}
	c.use(w, r)
}

// context is the cached context, built if this is the first request for it;
// nil without a route.
func (rt *Router) context(k key) *Context {
	rt.mu.RLock()
	c := rt.contexts[k]
	rt.mu.RUnlock()
	if c != nil {
		return c
	}

	c = rt.build(k)
	if c == nil {
		return nil
	}
	rt.mu.Lock()
	defer rt.mu.Unlock()
	if first := rt.contexts[k]; first != nil {
		return first // another request was quicker
	}
	rt.contexts[k] = c
	return c
}

func (rt *Router) build(k key) *Context {
	segments := strings.Split(k.path, "/")
	for _, r := range rt.routes {
		if r.method != k.method {
			continue
		}
		if params, ok := match(r.segments, segments); ok {
			return &Context{params: params, handler: r.handler, inUse: make(chan struct{}, 1)}
		}
	}
	return nil
}

func match(pattern, path []string) (map[string]string, bool) {
	if len(pattern) != len(path) {
		return nil, false
	}
	var params map[string]string
	for i, want := range pattern {
		name, isParam := strings.CutPrefix(want, ":")
		switch {
		case !isParam && want != path[i], isParam && path[i] == "":
			return nil, false
		case isParam:
			if params == nil {
				params = make(map[string]string)
			}
			params[name] = path[i]
		}
	}
	return params, true
}
