// Package work is everything the Go targets have in common: what each
// endpoint answers, the settings, the admin server, and how a target starts
// and stops. A target's own main package adds only its framework, so that a
// difference between two targets is a difference between their frameworks.
//
// It is written for Go 1.9, so that a target can be built with an old Go and
// with a new one from the same source.
package work

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/ioutil"
	"net/http"
	"runtime"
	"strconv"
	"time"

	"bourdon.dev/targets/go/routes"
)

const (
	text = "text/plain; charset=utf-8"
	js   = "application/json"

	// SubmitLimit is the largest body /submit takes, in bytes.
	SubmitLimit = 1 << 20
	// HashLimit is the largest number of passes /hash makes.
	HashLimit = 100000
)

// Reply is what a handler answers; the target writes it with whatever its
// framework offers for that. Body is shared between requests and must not be
// changed.
type Reply struct {
	Status      int
	ContentType string
	Body        []byte
}

// Write sends the reply through a net/http response writer.
func (r Reply) Write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", r.ContentType)
	w.WriteHeader(r.Status)
	w.Write(r.Body) // an error here means the client has gone; nobody is left to tell
}

// The replies that are the same for every request.
var (
	welcome = Reply{http.StatusOK, text, []byte("Welcome!\n")}
	hello   = Reply{http.StatusOK, text, []byte("Hello world")}
	index   = Reply{http.StatusOK, text, []byte("index\n")}
	pong    = Reply{http.StatusOK, js, []byte(`{"message":"pong"}`)}

	// TooLarge answers a /submit body over SubmitLimit. It is exported for
	// frameworks that refuse a large body before any handler runs.
	TooLarge = Reply{http.StatusRequestEntityTooLarge, text, []byte("the body is larger than 1 MiB\n")}

	unread  = Reply{http.StatusBadRequest, text, []byte("the body could not be read\n")}
	notJSON = Reply{http.StatusBadRequest, text, []byte("the body is not valid JSON\n")}

	noDataFile  = Reply{http.StatusServiceUnavailable, text, []byte("DATA_FILE is not set; start the target with DATA_FILE naming a file to hash\n")}
	badPasses   = Reply{http.StatusBadRequest, text, []byte("n must be a whole number from 1 to 100000\n")}
	badDataFile = Reply{http.StatusInternalServerError, text, []byte("DATA_FILE can no longer be read\n")}
)

// Work makes the replies.
type Work struct {
	delay    time.Duration
	dataFile string
}

// New returns the work a target with these settings does.
func New(s Settings) *Work {
	return &Work{delay: s.HandlerDelay, dataFile: s.DataFile}
}

func (w *Work) wait() {
	if w.delay > 0 {
		time.Sleep(w.delay)
	}
}

// Welcome answers GET /.
func (w *Work) Welcome() Reply { return welcome }

// Hello answers GET /rest/hello, after the handler delay.
func (w *Work) Hello() Reply {
	w.wait()
	return hello
}

// Index answers GET /index, after the handler delay.
func (w *Work) Index() Reply {
	w.wait()
	return index
}

// Greet answers GET /hello/:name.
func (w *Work) Greet(name string) Reply {
	return Reply{http.StatusOK, text, []byte("hello, " + name + "!\n")}
}

// Person is what GET /user/:id tells, for frameworks that render it themselves.
type Person struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// PersonOf is the one with that id.
func PersonOf(id string) Person { return Person{id, "User"} }

// User answers GET /user/:id.
func (w *Work) User(id string) Reply {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	// Two strings always encode, and the buffer never fails.
	enc.Encode(PersonOf(id))
	return Reply{http.StatusOK, js, bytes.TrimSuffix(body.Bytes(), []byte("\n"))}
}

// Ping answers GET /ping.
func (w *Work) Ping() Reply { return pong }

// Route answers a route of a route set, after the handler delay: its method
// and pattern, and what param, the framework's own look-up, says of each of
// its parameters.
func (w *Work) Route(r routes.Route, param func(name string) string) Reply {
	w.wait()
	body := r.Method + " " + r.Path
	for _, name := range r.Params {
		body += " " + name + "=" + param(name)
	}
	return Reply{http.StatusOK, text, []byte(body)}
}

// Submit answers POST /submit: the body itself if it is JSON.
func (w *Work) Submit(body io.Reader) Reply {
	b, err := ioutil.ReadAll(io.LimitReader(body, SubmitLimit+1))
	switch {
	case len(b) > SubmitLimit:
		return TooLarge
	case err != nil:
		return unread
	case !json.Valid(b):
		return notJSON
	}
	return Reply{http.StatusOK, js, b}
}

// Hash answers GET /hash?n=N&nonce=X: the SHA-256 of N copies of the data
// file followed by the nonce. The file is read once; every copy is really
// hashed.
func (w *Work) Hash(n, nonce string) Reply {
	if w.dataFile == "" {
		return noDataFile
	}
	passes, err := strconv.ParseUint(n, 10, 32)
	if err != nil || passes < 1 || passes > HashLimit {
		return badPasses
	}
	data, err := ioutil.ReadFile(w.dataFile)
	if err != nil {
		return badDataFile
	}
	h := sha256.New()
	for ; passes > 0; passes-- {
		h.Write(data)
	}
	io.WriteString(h, nonce)
	sum := h.Sum(nil)
	body := make([]byte, hex.EncodedLen(len(sum)))
	hex.Encode(body, sum)
	return Reply{http.StatusOK, text, body}
}

// WhoAmI answers GET /whoami with the id of the calling goroutine, so it has
// to be called on the goroutine that serves the request.
func (w *Work) WhoAmI() Reply {
	var buf [64]byte
	// The trace begins "goroutine 42 [running]:".
	head := buf[:runtime.Stack(buf[:], false)]
	if i := bytes.IndexByte(head, '['); i > 0 {
		head = head[:i-1]
	}
	return Reply{http.StatusOK, text, append([]byte(nil), head...)}
}
