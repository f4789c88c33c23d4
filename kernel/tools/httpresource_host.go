package tools

import (
	"strconv"
	"strings"
)

const (
	maxHostBytes  = 253 // RFC 1035, section 2.3.4, as text
	maxLabelBytes = 63
)

// canonicalHost checks the authority of a URL and gives its one spelling: a
// name or an IPv4 address in lower case, with `:port` unless it is the
// scheme's own. The second result is the rule that it breaks, or empty.
func canonicalHost(authority, defaultPort string) (string, string) {
	if strings.Contains(authority, "@") {
		return "", "must not carry a user or a password"
	}
	if strings.HasPrefix(authority, "[") {
		return "", "must name its host by a name or an IPv4 address"
	}
	name, port, hasPort := strings.Cut(authority, ":")
	if broken := checkHost(name); broken != "" {
		return "", broken
	}
	host := strings.ToLower(name) // ASCII by now
	if !hasPort {
		return host, ""
	}
	if !isPort(port) {
		return "", "must have a port from 1 to 65535, without leading zeros"
	}
	if port == defaultPort {
		return host, ""
	}
	return host + ":" + port, ""
}

// checkHost returns the rule that a host breaks, or empty. Other ways to write
// an IPv4 address (127.1, 0x7f000001, 017700000001) are refused: resolvers
// disagree about them.
func checkHost(name string) string {
	if name == "" {
		return "must have a host"
	}
	if len(name) > maxHostBytes {
		return "must have a host of at most 253 bytes"
	}
	labels := strings.Split(name, ".")
	for _, label := range labels {
		if !isLabel(label) {
			return "must have a host of letters, digits and - between dots"
		}
	}
	last := labels[len(labels)-1]
	if !isNumber(last) {
		return ""
	}
	if len(labels) != 4 {
		return "must write an IPv4 address as four decimal numbers"
	}
	for _, label := range labels {
		if !isOctet(label) {
			return "must write an IPv4 address as four decimal numbers"
		}
	}
	return ""
}

// isLabel accepts letters, digits, `-` and `_` (service names have it), the
// hyphen not at an end.
func isLabel(label string) bool {
	if label == "" || len(label) > maxLabelBytes || label[0] == '-' || label[len(label)-1] == '-' {
		return false
	}
	for i := 0; i < len(label); i++ {
		if c := label[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// isNumber reports whether a last label makes its host an address: decimal or
// octal digits, or 0x with hexadecimal ones (WHATWG URL, "ends in a number").
func isNumber(label string) bool {
	label = strings.ToLower(label)
	hex, isHex := strings.CutPrefix(label, "0x")
	for i := 0; i < len(hex); i++ {
		if _, ok := hexDigit(hex[i]); !ok || !isHex && !isDigit(hex[i]) {
			return false
		}
	}
	return true
}

func isOctet(s string) bool {
	n, err := strconv.ParseUint(s, 10, 8)
	return err == nil && strconv.FormatUint(n, 10) == s
}

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && strconv.FormatUint(n, 10) == s
}
