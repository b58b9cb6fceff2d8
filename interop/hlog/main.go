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
		count := histogram.TotalCount()
		summaries[tag].Count = count
		summaries[tag].Quantiles = map[string]int64{}
		for name, percent := range map[string]int64{"p50": 50, "p90": 90, "p99": 99} {
			// A quantile is the value that so many are at most. The library rounds the rank, so that it may take the one below.
			rank := (percent*count + 99) / 100
			summaries[tag].Quantiles[name] = histogram.ValueAtQuantile(100 * float64(rank) / float64(count))
		}
	}
	return summaries, nil
}
