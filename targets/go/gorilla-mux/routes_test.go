package main

import (
	"testing"

	"bourdon.dev/targets/go/routes/drive"
)

func TestRouteSets(t *testing.T) { drive.Routes(t, build) }
