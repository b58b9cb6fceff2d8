// Package routes holds the sets of routes that Go routers are usually
// compared with. A target that is asked for one serves it instead of the
// contract's own paths. It is written for Go 1.9, like package work.
package routes

import (
	"fmt"
	"sort"
	"strings"
)

// Route is one method and one pattern, such as "/users/:user/keys".
type Route struct {
	Method string
	Path   string
	Params []string // the names of the parameters, in order
}

// Braces is the pattern in the other usual notation: "/users/{user}/keys".
func (r Route) Braces() string {
	segments := strings.Split(r.Path, "/")
	for i, segment := range segments {
		if strings.HasPrefix(segment, ":") {
			segments[i] = "{" + segment[1:] + "}"
		}
	}
	return strings.Join(segments, "/")
}

// Names are the names of the sets, sorted.
func Names() []string {
	var names []string
	for name := range sets {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Set is the set of that name, in the order of the file; nil without one.
func Set(name string) []Route { return sets[name] }

var sets = mustParse(text)

func mustParse(text string) map[string][]Route {
	sets, err := parse(text)
	if err != nil {
		panic(err) // the file is part of the program, and the tests read it
	}
	return sets
}

// parse reads lines "SET METHOD /path/:param". Empty lines and lines that
// begin with "#" are left out.
func parse(text string) (map[string][]Route, error) {
	sets := make(map[string][]Route)
	seen := make(map[string]bool)
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		if len(words) != 3 || !strings.HasPrefix(words[2], "/") {
			return nil, fmt.Errorf("routes.txt:%d: %q is not a line SET METHOD /path", i+1, line)
		}
		if seen[line] {
			return nil, fmt.Errorf("routes.txt:%d: %q is there twice", i+1, line)
		}
		seen[line] = true
		r := Route{Method: words[1], Path: words[2]}
		for _, segment := range strings.Split(r.Path, "/") {
			if strings.HasPrefix(segment, ":") {
				r.Params = append(r.Params, segment[1:])
			}
		}
		sets[words[0]] = append(sets[words[0]], r)
	}
	return sets, nil
}
