package work

import (
	"net/http"
	"net/http/httptest"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Whoever reads the figures need not know which Go the target was built with.
func TestExpositionNamesFiguresAsPrometheusDoes(t *testing.T) {
	own := figures(t, http.HandlerFunc(exposition))
	library := figures(t, metricsHandler())
	for name, figure := range own {
		known, ok := library[name]
		if !ok || known.GetType() != figure.GetType() {
			t.Errorf("%s of type %v is not a figure of the library", name, figure.GetType())
		}
	}
	for _, name := range []string{"go_goroutines", "go_gc_duration_seconds", "process_cpu_seconds_total", "process_start_time_seconds"} {
		if own[name] == nil {
			t.Errorf("%s is missing", name)
		}
	}
	start := func(of map[string]*dto.MetricFamily) float64 {
		return of["process_start_time_seconds"].GetMetric()[0].GetGauge().GetValue()
	}
	// The kernel gives the start in ticks of a hundredth of a second, counted
	// from a boot time in whole seconds.
	if off := start(own) - start(library); off < -2 || off > 2 {
		t.Errorf("the start of the process is %v s off", off)
	}
}

func figures(t *testing.T, h http.Handler) map[string]*dto.MetricFamily {
	t.Helper()
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}
