package tools

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// HTTPTool is the name of the tool whose resource HTTPResource derives.
const HTTPTool = "http.request"

// Limits of a URL that the gate will judge. The resource's are those of the
// grants that it is matched against: what is longer could match none of them.
const (
	maxURLBytes         = 8192
	maxResourceBytes    = 1024
	maxResourceSegments = 64
)

// httpMethods is the allow-list: a method is part of the resource, and what
// an unknown one does is unknown.
var httpMethods = [...]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// HTTPResource derives the resource of an http.request call from its
// arguments, members `method` (GET if it is left out) and `url`: the tool's name, the method, the
// host, then the path's segments (PE-1):
//
//	http.request/GET/api.example.com/v1/items
//
// Two spellings of one target must not give two resources, or a DENY could be
// walked around. So the host is in lower case, a port is kept only where it is
// not the scheme's own, percent-encoding is undone, one slash at the end says
// nothing, and whatever could be read in two ways is refused. The query is no
// part of the resource. The function is strict on its own, without a URL
// library, because its answer must never change with one.
//
// What is refused answers TOOL_ARGS_INVALID with one of our sentences; exactly
// one of the results is set.
func HTTPResource(args value.Raw) (string, *failure.Failure) {
	method, broken := httpMethod(args)
	if broken != "" {
		return "", argsInvalid("method " + broken)
	}
	raw, ok := args.Get("url")
	if !ok {
		return "", argsInvalid("url is missing")
	}
	text, ok := raw.Text()
	if !ok {
		return "", argsInvalid("url must be a string")
	}
	target, broken := splitURL(text)
	if broken != "" {
		return "", argsInvalid("url " + broken)
	}
	resource := HTTPTool + "/" + method + "/" + target.host
	if target.path != "" {
		resource += "/" + target.path
	}
	if len(resource) > maxResourceBytes {
		return "", argsInvalid("url must give a resource of at most 1024 bytes")
	}
	if strings.Count(resource, "/") >= maxResourceSegments {
		return "", argsInvalid("url must give a resource of at most 64 segments")
	}
	return resource, nil
}

func httpMethod(args value.Raw) (method, broken string) {
	raw, ok := args.Get("method")
	if !ok {
		return httpMethods[0], ""
	}
	text, ok := raw.Text()
	if !ok {
		return "", "must be a string"
	}
	for _, known := range httpMethods {
		if text == known {
			return known, ""
		}
	}
	return "", "must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
}

func argsInvalid(message string) *failure.Failure {
	return &failure.Failure{Code: failure.ToolArgsInvalid, Message: message}
}

// target is where a URL points, in its one spelling. Path is without leading
// and trailing slash, decoded; empty for the root.
type target struct {
	host string
	path string
}

// splitURL takes an absolute http or https URL apart. The second result is the
// rule that it breaks, or empty.
func splitURL(url string) (target, string) {
	if len(url) > maxURLBytes {
		return target{}, "must be at most 8192 bytes long"
	}
	for i := 0; i < len(url); i++ {
		switch c := url[i]; {
		case c <= 0x20 || c >= 0x7f:
			return target{}, "must be visible ASCII; encode anything else with %"
		case c == '\\':
			return target{}, "must not contain a backslash"
		case c == '#':
			return target{}, "must not have a fragment"
		}
	}
	rest, secure := strings.CutPrefix(url, "https://")
	if !secure {
		var plain bool
		if rest, plain = strings.CutPrefix(url, "http://"); !plain {
			return target{}, "must begin with http:// or https://"
		}
	}
	rest, _, _ = strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	defaultPort := "80"
	if secure {
		defaultPort = "443"
	}
	host, broken := canonicalHost(authority, defaultPort)
	if broken != "" {
		return target{}, broken
	}
	path, broken = canonicalPath(path)
	return target{host: host, path: path}, broken
}

// canonicalPath decodes a path that has lost its leading slash, segment by
// segment, and drops one trailing slash.
func canonicalPath(path string) (string, string) {
	if path == "" {
		return "", ""
	}
	segments := strings.Split(strings.TrimSuffix(path, "/"), "/")
	for i, segment := range segments {
		decoded, broken := decodeSegment(segment)
		if broken != "" {
			return "", broken
		}
		segments[i] = decoded
	}
	return strings.Join(segments, "/"), ""
}
