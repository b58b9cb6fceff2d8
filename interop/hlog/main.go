// Reads an HdrHistogram interval log from stdin with the Go implementation of the format, and prints what it finds
// under each tag: proof that bourdon's logs are read by others.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Values are in the log's unit, 100 ns.
type summary struct {
	Intervals int              `json:"intervals"`
	Count     int64            `json:"count"`
	Quantiles map[string]int64 `json:"quantiles"`
}

func main() {
	summaries, err := read(os.Stdin)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(summaries)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hlog:", err)
		os.Exit(1)
	}
}

func read(log io.Reader) (map[string]*summary, error) {
	whole := map[string]*hdrhistogram.Histogram{}
	summaries := map[string]*summary{}
	reader := hdrhistogram.NewHistogramLogReader(log)
	for {
		interval, err := reader.NextIntervalHistogram()
		if err != nil {
			return nil, err
		}
		if interval == nil {
			break
		}
		tag := interval.Tag()
		if whole[tag] == nil {
			whole[tag] = hdrhistogram.New(1, interval.HighestTrackableValue(), 3)
			summaries[tag] = &summary{}
		}
		if dropped := whole[tag].Merge(interval); dropped > 0 {
			return nil, fmt.Errorf("%s: %d values out of range", tag, dropped)
		}
		summaries[tag].Intervals++
	}
	if len(whole) == 0 {
		return nil, errors.New("no interval in the log")
	}
	for tag, histogram := range whole {
		quantile := histogram.ValueAtQuantile
		summaries[tag].Count = histogram.TotalCount()
		summaries[tag].Quantiles = map[string]int64{"p50": quantile(50), "p90": quantile(90), "p99": quantile(99)}
	}
	return summaries, nil
}
