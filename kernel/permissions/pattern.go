package permissions

import (
	"strings"
	"unicode/utf8"
)

// action is a parsed action pattern: an exact name, or with open set a prefix
// that ends in a dot.
type action struct {
	name string
	open bool
}

// matches reports whether the pattern speaks of the named action. `tool.*`
// does not speak of `tool`.
func (a action) matches(name string) bool {
	if a.open {
		return len(name) > len(a.name) && strings.HasPrefix(name, a.name)
	}
	return name == a.name
}

// parseAction returns the rule that s breaks, or the empty string.
func parseAction(s string) (action, string) {
	switch {
	case s == "":
		return action{}, "must not be empty"
	case len(s) > MaxBytes:
		return action{}, "must be at most 1024 bytes long"
	}
	name, open := strings.CutSuffix(s, ".*")
	names := 0
	for rest, more := name, true; more; names++ {
		var part string
		part, rest, more = strings.Cut(rest, ".")
		if !isActionName(part) {
			return action{}, "must be dotted lower-case names, the last of which may be *"
		}
	}
	if names > MaxSegments {
		return action{}, "must have at most 64 names"
	}
	if open {
		// The kept prefix includes the dot: `tool.*` must not match `toolbox.x`.
		return action{name: s[:len(name)+1], open: true}, ""
	}
	return action{name: s}, ""
}

// isActionName reports whether s is [a-z][a-z0-9_]*.
func isActionName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

// anySegment is how a parsed pattern writes `*`: no literal segment is empty.
const anySegment = ""

// pattern is a parsed resource pattern.
type pattern struct {
	head     string   // the literal text before the first wildcard, compared in one stroke: it settles most cases
	segments []string // all of them, without a final `**`
	literals uint8    // how many of the segments stand in head
	open     bool     // the pattern ends in `**`
	bytes    uint16   // of the shortest resource with len(segments) segments; 0 for no segments
}

// parsePattern returns the rule that s breaks, or the empty string.
func parsePattern(s string) (pattern, string) {
	switch {
	case s == "":
		return pattern{}, "must not be empty"
	case len(s) > MaxBytes:
		return pattern{}, "must be at most 1024 bytes long"
	case !utf8.ValidString(s):
		return pattern{}, "must be valid UTF-8"
	case hasControl(s):
		return pattern{}, "must not contain control characters"
	}
	parts := strings.Split(s, "/")
	if len(parts) > MaxSegments {
		return pattern{}, "must have at most 64 segments"
	}
	open := parts[len(parts)-1] == "**"
	if open {
		parts = parts[:len(parts)-1]
	}
	for i, part := range parts {
		switch {
		case part == "":
			return pattern{}, "must not have an empty segment"
		case part == "*":
			parts[i] = anySegment
		case part == "**":
			return pattern{}, "must have ** as its last segment only"
		case strings.Contains(part, "*"):
			return pattern{}, "must have * as a whole segment only"
		}
	}
	return newPattern(parts, open), ""
}

// newPattern keeps the segments.
func newPattern(segments []string, open bool) pattern {
	p := pattern{segments: segments, open: open}
	for i, segment := range segments {
		if segment == anySegment {
			p.bytes++ // a segment of one byte
		} else if int(p.literals) == i {
			p.literals++
		}
		p.bytes += uint16(len(segment) + 1)
	}
	if len(segments) > 0 {
		p.bytes-- // one separator less than segments
	}
	p.head = strings.Join(segments[:p.literals], "/")
	return p
}

// hasControl looks for ASCII controls only: what Unicode calls a control
// follows the version of its tables, and so of the compiler.
func hasControl(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < 0x20 || s[i] == 0x7f {
			return true
		}
	}
	return false
}

// matches reports whether the pattern matches a well-formed resource.
func (p *pattern) matches(resource string) bool {
	if p.head != "" {
		if !strings.HasPrefix(resource, p.head) {
			return false
		}
		resource = resource[len(p.head):]
		if resource == "" {
			return int(p.literals) == len(p.segments)
		}
		if resource[0] != '/' {
			return false
		}
		resource = resource[1:]
	}
	for _, want := range p.segments[p.literals:] {
		if resource == "" {
			return false
		}
		var segment string
		if cut := strings.IndexByte(resource, '/'); cut < 0 {
			segment, resource = resource, ""
		} else {
			segment, resource = resource[:cut], resource[cut+1:]
		}
		if want != anySegment && want != segment {
			return false
		}
	}
	return p.open || resource == ""
}

// wellFormed reports whether a resource has between one and MaxSegments
// segments, none empty, within MaxBytes. What is not matches nothing: an empty
// segment must not slip through a `*`.
func wellFormed(resource string) bool {
	if len(resource) > MaxBytes {
		return false
	}
	segments, start := 1, 0
	for i := 0; i < len(resource); i++ {
		if resource[i] != '/' {
			continue
		}
		if i == start {
			return false
		}
		segments, start = segments+1, i+1
	}
	return start < len(resource) && segments <= MaxSegments
}
