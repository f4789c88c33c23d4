package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
)

// Adapter is one external tool. Call is run on many goroutines at once; it
// returns soon after ctx ends, and what it returns then is not looked at.
type Adapter interface {
	Manifest() Manifest
	Call(ctx context.Context, r Request) Result
}

// Manifest says what a tool takes and gives. Args and Result are JSON Schemas
// (draft 2020-12) as text; an empty one, `true` or `{}` accepts every value
// and costs nothing. References to other documents are refused.
type Manifest struct {
	Name           string // dotted lower-case words, "http.request"
	Description    string // for people, and for models that choose among tools
	Args           string
	Result         string
	MaxResultBytes int           // of the result's canonical form
	DefaultTimeout time.Duration // for a Request without one
}

const maxNameBytes = 128

// check returns what is wrong with a manifest apart from its schemas.
func (m *Manifest) check() error {
	switch {
	case !isToolName(m.Name):
		return fmt.Errorf("tool %q: name must be dotted words of lower-case letters, digits, _ and -", m.Name)
	case len(m.Args) > schema.MaxBytes || len(m.Result) > schema.MaxBytes:
		return fmt.Errorf("tool %s: a schema must be at most %d bytes", m.Name, schema.MaxBytes)
	case m.MaxResultBytes <= 0:
		return fmt.Errorf("tool %s: MaxResultBytes must be positive", m.Name)
	case m.DefaultTimeout <= 0:
		return fmt.Errorf("tool %s: DefaultTimeout must be positive", m.Name)
	}
	return nil
}

// isToolName keeps to what stands in a resource without any escape.
func isToolName(name string) bool {
	if len(name) > maxNameBytes {
		return false
	}
	for word := range strings.SplitSeq(name, ".") {
		if word == "" {
			return false
		}
		for i := range len(word) {
			c := word[i]
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
				return false
			}
		}
	}
	return true
}

var errDuplicate = errors.New("the name is taken")
