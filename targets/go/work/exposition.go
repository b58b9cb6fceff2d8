package work

import (
	"bytes"
	"fmt"
	"io/ioutil"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// started is the start of the process, but for what the runtime needs before
// it initialises packages.
var started = time.Now()

// exposition gives the figures that an old Go offers, in the Prometheus text
// format and under the names that Prometheus' own library gives them. It
// stands in for that library where the toolchain is too old for it.
func exposition(w http.ResponseWriter, _ *http.Request) {
	var body bytes.Buffer
	put := func(kind, name string, value float64) {
		fmt.Fprintf(&body, "# TYPE %s %s\n%s %s\n", name, kind, name, strconv.FormatFloat(value, 'g', -1, 64))
	}
	putRuntime(&body, put)
	putProcess(put)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Write(body.Bytes())
}

func putRuntime(body *bytes.Buffer, put func(kind, name string, value float64)) {
	fmt.Fprintf(body, "# TYPE go_info gauge\ngo_info{version=%q} 1\n", runtime.Version())
	put("gauge", "go_goroutines", float64(runtime.NumGoroutine()))
	threads, _ := runtime.ThreadCreateProfile(nil)
	put("gauge", "go_threads", float64(threads))

	pauses := debug.GCStats{PauseQuantiles: make([]time.Duration, 5)}
	debug.ReadGCStats(&pauses)
	body.WriteString("# TYPE go_gc_duration_seconds summary\n")
	for i, pause := range pauses.PauseQuantiles {
		fmt.Fprintf(body, "go_gc_duration_seconds{quantile=\"%v\"} %v\n", float64(i)/4, pause.Seconds())
	}
	fmt.Fprintf(body, "go_gc_duration_seconds_sum %v\n", pauses.PauseTotal.Seconds())
	fmt.Fprintf(body, "go_gc_duration_seconds_count %d\n", pauses.NumGC)

	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	put("gauge", "go_memstats_last_gc_time_seconds", float64(m.LastGC)/1e9)
	put("counter", "go_memstats_alloc_bytes_total", float64(m.TotalAlloc))
	put("counter", "go_memstats_mallocs_total", float64(m.Mallocs))
	put("counter", "go_memstats_frees_total", float64(m.Frees))
	for _, g := range []struct {
		name  string
		value uint64
	}{
		{"alloc_bytes", m.Alloc},
		{"sys_bytes", m.Sys},
		{"heap_alloc_bytes", m.HeapAlloc},
		{"heap_sys_bytes", m.HeapSys},
		{"heap_idle_bytes", m.HeapIdle},
		{"heap_inuse_bytes", m.HeapInuse},
		{"heap_released_bytes", m.HeapReleased},
		{"heap_objects", m.HeapObjects},
		{"stack_inuse_bytes", m.StackInuse},
		{"stack_sys_bytes", m.StackSys},
		{"mspan_inuse_bytes", m.MSpanInuse},
		{"mspan_sys_bytes", m.MSpanSys},
		{"mcache_inuse_bytes", m.MCacheInuse},
		{"mcache_sys_bytes", m.MCacheSys},
		{"buck_hash_sys_bytes", m.BuckHashSys},
		{"gc_sys_bytes", m.GCSys},
		{"other_sys_bytes", m.OtherSys},
		{"next_gc_bytes", m.NextGC},
	} {
		put("gauge", "go_memstats_"+g.name, float64(g.value))
	}
}

// putProcess leaves out what the system does not tell.
func putProcess(put func(kind, name string, value float64)) {
	put("gauge", "process_start_time_seconds", float64(started.UnixNano())/1e9)
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
		put("counter", "process_cpu_seconds_total", float64(used.Utime.Nano()+used.Stime.Nano())/1e9)
	}
	if open, err := ioutil.ReadDir("/proc/self/fd"); err == nil {
		put("gauge", "process_open_fds", float64(len(open)))
	}
	if pages, err := ioutil.ReadFile("/proc/self/statm"); err == nil {
		if size := strings.Fields(string(pages)); len(size) > 1 {
			for i, name := range []string{"process_virtual_memory_bytes", "process_resident_memory_bytes"} {
				if n, err := strconv.ParseUint(size[i], 10, 64); err == nil {
					put("gauge", name, float64(n)*float64(os.Getpagesize()))
				}
			}
		}
	}
}
