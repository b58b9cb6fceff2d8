//go:build go1.16
// +build go1.16

package routes

import _ "embed"

// For an older Go, build.sh writes this variable's file from routes.txt.
//
//go:embed routes.txt
var text string
