// Command blind is a server with one fault, or none, for `make diagnose-live`: the environment says which, and how large it is.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

func setting(name string, usual int) int {
	value, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return usual
	}
	return value
}

var (
	faults   = os.Getenv("FAULTS")
	workers  = make(chan struct{}, setting("WORKERS", 1))
	delay    = time.Duration(setting("DELAY_US", 0)) * time.Microsecond
	heavy    = time.Duration(setting("HEAVY_MS", 0)) * time.Millisecond
	bytes    = setting("BYTES", 0)
	every    = uint64(setting("EVERY", 1))
	trips    = setting("TRIPS", 1)
	upstream = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
	requests atomic.Uint64
	standing sync.RWMutex
	paths    sync.Map
	kept     struct {
		sync.Mutex
		memory [][]byte
		files  []*os.File
	}
)

func has(fault string) bool {
	for _, one := range strings.Split(faults, ",") {
		if one == fault {
			return true
		}
	}
	return false
}

// compute keeps the CPU busy for so long as the calling thread has it.
func compute(duration time.Duration) {
	until := time.Now().Add(duration)
	x := uint64(1)
	for time.Now().Before(until) {
		for i := 0; i < 1000; i++ {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	runtime.KeepAlive(x)
}

func work(path string) {
	if has("limit") {
		workers <- struct{}{}
		defer func() { <-workers }()
	}
	if has("path-lock") {
		lock, _ := paths.LoadOrStore(path, &sync.Mutex{})
		lock.(*sync.Mutex).Lock()
		defer lock.(*sync.Mutex).Unlock()
	}
	if has("sometimes-slow") && requests.Load()%every == 0 {
		time.Sleep(time.Duration(setting("SLOW_MS", 30)) * time.Millisecond)
	}
	if has("slower") {
		time.Sleep(time.Duration(requests.Load()) * time.Microsecond)
	}
	if has("upstream") {
		for i := 0; i < trips; i++ {
			ask()
		}
	}
	time.Sleep(delay)
}

// ask makes one round trip to what is behind the server.
func ask() {
	reply, err := upstream.Get("http://" + os.Getenv("UPSTREAM") + "/")
	if err != nil {
		return
	}
	_, _ = io.Copy(io.Discard, reply.Body)
	_ = reply.Body.Close()
}

func keep(count uint64) {
	if count%every != 0 {
		return
	}
	kept.Lock()
	defer kept.Unlock()
	if has("memory") || has("cache") && len(kept.memory)*bytes < setting("CACHE_BYTES", 1<<20) {
		block := make([]byte, bytes)
		for i := range block {
			block[i] = byte(i)
		}
		kept.memory = append(kept.memory, block)
	}
	if has("files") {
		if file, err := os.Open(os.DevNull); err == nil {
			kept.files = append(kept.files, file)
		}
	}
	if has("threads") {
		go func() {
			runtime.LockOSThread()
			select {}
		}()
	}
}

func handle(w http.ResponseWriter, r *http.Request) {
	standing.RLock()
	defer standing.RUnlock()
	count := requests.Add(1)
	if r.URL.Path == "/heavy" {
		compute(heavy)
	} else {
		work(r.URL.Path)
	}
	keep(count)
	if has("close") {
		w.Header().Set("Connection", "close")
	}
	if has("errors") && count%every == 0 {
		http.Error(w, "out of luck", http.StatusInternalServerError)
		return
	}
	if has("split") {
		split(w)
		return
	}
	fmt.Fprint(w, strings.Repeat("ok", 1+setting("BODY", 0)/2))
}

// split sends a reply in two writes with Nagle's algorithm on.
func split(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "2")
	fmt.Fprint(w, "o")
	w.(http.Flusher).Flush()
	fmt.Fprint(w, "k")
}

func stall() {
	for {
		time.Sleep(time.Duration(setting("STALL_EVERY_MS", 3000)) * time.Millisecond)
		standing.Lock()
		time.Sleep(time.Duration(setting("STALL_MS", 700)) * time.Millisecond)
		standing.Unlock()
	}
}

func main() {
	if has("stall") {
		go stall()
	}
	server := &http.Server{Handler: http.HandlerFunc(handle)}
	if has("split") {
		server.ConnState = func(connection net.Conn, state http.ConnState) {
			if tcp, ok := connection.(*net.TCPConn); ok && state == http.StateNew {
				_ = tcp.SetNoDelay(false)
			}
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if has("burn") {
		go func() {
			for {
				compute(3 * time.Millisecond)
				time.Sleep(7 * time.Millisecond)
			}
		}()
	}
	if has("garbage") {
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			block := make([]byte, bytes)
			block[requests.Load()%uint64(bytes)] = 1
			handle(w, r)
			runtime.KeepAlive(block)
		})
	}
	if has("die") {
		go func() {
			for requests.Load() < every {
				time.Sleep(time.Millisecond)
			}
			fmt.Fprintln(os.Stderr, "fatal: no luck left")
			os.Exit(3)
		}()
	}
	fmt.Fprintln(os.Stderr, server.Serve(listener))
}
