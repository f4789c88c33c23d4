package tools

import (
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// maxSegmentBytes bounds one argument's part of a resource.
const maxSegmentBytes = 256

// resource derives what a call of a registered tool is judged as (PE-1): the tool's
// name, then the values of the arguments that its manifest names, in that order:
//
//	crm.contacts.get/acme/42
//
// Strings and integers stand in it as they are. A value that could be read as more
// than one segment, as none, or as part of a pattern would let a DENY be walked
// around: it is TOOL_ARGS_INVALID.
func (m *Manifest) resource(args value.Raw) (string, *failure.Failure) {
	if len(m.Segments) == 0 {
		return m.Name, nil
	}
	var b strings.Builder
	b.WriteString(m.Name)
	for _, name := range m.Segments {
		segment, broken := segmentOf(args, name)
		if broken != "" {
			return "", argsInvalid(failure.Clip(name + " " + broken))
		}
		b.WriteByte('/')
		b.WriteString(segment)
	}
	if b.Len() > maxResourceBytes {
		return "", argsInvalid("the arguments must give a resource of at most 1024 bytes")
	}
	return b.String(), nil
}

func segmentOf(args value.Raw, name string) (segment, broken string) {
	raw, ok := args.Get(name)
	if !ok {
		return "", "is missing: the call is judged by it"
	}
	if n, ok := raw.Int(); ok {
		return strconv.FormatInt(n, 10), ""
	}
	text, ok := raw.Text()
	if !ok {
		return "", "must be a string or an integer: the call is judged by it"
	}
	if text == "" || len(text) > maxSegmentBytes {
		return "", "must be 1 to 256 bytes: the call is judged by it"
	}
	for i := range len(text) {
		if c := text[i]; c < 0x20 || c == 0x7f || c == '/' || c == '\\' || c == '*' {
			return "", "must not have a slash, a backslash, a star or a control character: the call is judged by it"
		}
	}
	if text == "." || text == ".." {
		return "", "must not be . or .. : the call is judged by it"
	}
	return text, ""
}
