package dev

import (
	"errors"
	"os"
)

// Problem is why a cluster cannot be started or found, and what to do.
type Problem struct {
	Rule string
	Hint string
}

// Error is the rule.
func (p *Problem) Error() string { return p.Rule }

// cause is the operating system's part of an error: the path stands in front
// of it anyway.
func cause(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err.Error()
	}
	return err.Error()
}
