package routes

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestSetsAreThoseOfTheBenchmark(t *testing.T) {
	// These are the numbers of routes that the benchmark itself prints.
	want := map[string]int{"static": 157, "github": 203, "gplus": 13, "parse": 26}
	if len(sets) != len(want) {
		t.Errorf("the sets are %q", Names())
	}
	for name, count := range want {
		if got := len(Set(name)); got != count {
			t.Errorf("%s has %d routes, want %d", name, got, count)
		}
	}
	if got := Names(); !slices.Equal(got, []string{"github", "gplus", "parse", "static"}) {
		t.Errorf("the names are %q", got)
	}
	if Set("none") != nil {
		t.Error("there is a set that is not in the file")
	}
}

// Two patterns that differ in the names of their parameters alone are one
// route: no router could tell them apart.
func TestNoRouteIsThereTwice(t *testing.T) {
	for _, name := range Names() {
		seen := make(map[string]bool)
		for _, r := range Set(name) {
			key := r.Method + " " + r.Path
			for _, param := range r.Params {
				key = strings.Replace(key, ":"+param, ":", 1)
			}
			if seen[key] {
				t.Errorf("%s: %s %s", name, r.Method, r.Path)
			}
			seen[key] = true
		}
	}
}

func TestParse(t *testing.T) {
	got, err := parse("# head\n\na GET /x/:one/y/:two\nb POST /\n")
	want := map[string][]Route{
		"a": {{"GET", "/x/:one/y/:two", []string{"one", "two"}}},
		"b": {{"POST", "/", nil}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	if braces := got["a"][0].Braces(); braces != "/x/{one}/y/{two}" {
		t.Errorf("in braces: %s", braces)
	}
	if braces := (Route{Path: "/articles/"}).Braces(); braces != "/articles/" {
		t.Errorf("in braces: %s", braces)
	}
	for text, says := range map[string]string{
		"a GET":              "routes.txt:1:",
		"a GET x":            "routes.txt:1:",
		"a GET /\n\na GET /": "routes.txt:3:",
	} {
		if _, err := parse(text); err == nil || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
