package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"bourdon.dev/targets/go/work"
)

func ask(rt *Router, method, path string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	rt.ServeHTTP(rec, httptest.NewRequest(method, path, nil))
	return rec
}

// The requests run in bubbles, where synctest.Wait returns once every
// goroutine of the bubble is blocked for good: what has not happened by then
// would never happen without a further push from the test.

func TestOneRequestAtATimePerPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var entered []string
		gate := make(chan struct{})
		rt := NewRouter()
		h := func(c *Context) {
			mu.Lock()
			entered = append(entered, c.Request.URL.RawQuery)
			mu.Unlock()
			<-gate
		}
		rt.Get("/a", h)
		rt.Get("/b/:x", h)
		rt.Post("/a", h)

		expect := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			if fmt.Sprint(entered) != fmt.Sprint(want) {
				t.Fatalf("%s: entered %q, want %q", when, entered, want)
			}
		}
		start := func(method, path string) {
			go ask(rt, method, path)
			synctest.Wait()
		}

		start("GET", "/a?first")
		expect("after the first", "first")
		start("GET", "/a?second")
		start("GET", "/a?third")
		expect("while the first is inside", "first")

		// Another path, another value of a parameter and another method
		// are not held up.
		start("GET", "/b/1?other")
		start("GET", "/b/2?value")
		start("POST", "/a?method")
		expect("after the others", "first", "other", "value", "method")
		start("GET", "/b/1?again")
		expect("while /b/1 is inside", "first", "other", "value", "method")

		// Each request that leaves lets in the next for the same path, in
		// the order in which they came.
		close(gate)
		synctest.Wait()
		var a []string
		for _, who := range entered[4:] {
			if who != "again" {
				a = append(a, who)
			}
		}
		if fmt.Sprint(a) != "[second third]" || len(entered) != 7 {
			t.Errorf("entered %q", entered)
		}
	})
}

func TestDelaysOfOnePathAddUp(t *testing.T) {
	const delay = 100 * time.Millisecond
	const requests = 20
	for _, c := range []struct {
		name string
		path func(i int) string
		want time.Duration
	}{
		{"one path", func(int) string { return "/x/same" }, requests * delay},
		{"many paths", func(i int) string { return fmt.Sprint("/x/", i) }, delay},
	} {
		synctest.Test(t, func(t *testing.T) { // on the bubble's own clock
			do := work.New(work.Settings{HandlerDelay: delay})
			rt := NewRouter()
			rt.Get("/x/:i", func(c *Context) { c.Send(do.Hello()) })

			start := time.Now()
			done := make(chan int)
			for i := range requests {
				go func() { done <- ask(rt, "GET", c.path(i)).Code }()
			}
			for range requests {
				if status := <-done; status != http.StatusOK {
					t.Errorf("%s: status %d", c.name, status)
				}
			}
			if took := time.Since(start); took != c.want {
				t.Errorf("%s: took %v, want %v", c.name, took, c.want)
			}
		})
	}
}

func TestContextIsBuiltOncePerPath(t *testing.T) {
	var seen []*Context
	rt := NewRouter()
	rt.Get("/x/:i", func(c *Context) { seen = append(seen, c) })
	ask(rt, "GET", "/x/1")
	ask(rt, "GET", "/x/1?again")
	ask(rt, "GET", "/x/2")
	if seen[0] != seen[1] || seen[0] == seen[2] {
		t.Errorf("contexts are %p", seen)
	}
}

func TestContextIsFreeAfterAPanic(t *testing.T) {
	rt := NewRouter()
	panics := true
	rt.Get("/", func(c *Context) {
		if panics {
			panic("once")
		}
		c.Send(work.Reply{Status: http.StatusOK})
	})
	func() {
		defer func() { recover() }()
		ask(rt, "GET", "/")
	}()
	panics = false
	if status := ask(rt, "GET", "/").Code; status != http.StatusOK {
		t.Errorf("status %d", status)
	}
}

func TestRoutes(t *testing.T) {
	rt := NewRouter()
	rt.Get("/", func(c *Context) { c.Send(work.Reply{Status: 200, Body: []byte("root")}) })
	rt.Get("/hello/:name", func(c *Context) { c.Send(work.Reply{Status: 200, Body: []byte(c.Param("name"))}) })
	rt.Post("/submit", func(c *Context) { c.Send(work.Reply{Status: 200, Body: []byte("submit")}) })

	for _, c := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/", 200, "root"},
		{"GET", "/hello/ann", 200, "ann"},
		{"GET", "/hello/a%20b", 200, "a b"},
		{"POST", "/submit", 200, "submit"},
		{"GET", "/submit", 404, ""},
		{"GET", "/hello", 404, ""},
		{"GET", "/hello/", 404, ""},
		{"GET", "/hello/ann/", 404, ""},
		{"GET", "/hello/ann/bob", 404, ""},
		{"GET", "/nowhere", 404, ""},
		{"GET", "//", 404, ""},
	} {
		rec := ask(rt, c.method, c.path)
		if rec.Code != c.status || c.status == 200 && rec.Body.String() != c.body {
			t.Errorf("%s %s: got %d %q, want %d %q", c.method, c.path, rec.Code, rec.Body, c.status, c.body)
		}
	}
	if n := len(rt.contexts); n != 4 {
		t.Errorf("%d contexts are cached, want those of the 4 paths with a route", n)
	}
}
