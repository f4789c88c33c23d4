package httprequest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const secretPrefix = "secret:"

// cutSecret takes a header value apart whose last word is `secret:NAME`:
// "Bearer secret:TOKEN" is "Bearer " and TOKEN.
func cutSecret(text string) (before, name string, ok bool) {
	start := strings.LastIndexByte(text, ' ') + 1
	name, ok = strings.CutPrefix(text[start:], secretPrefix)
	return text[:start], name, ok && name != ""
}

// usedSecret is a secret that went into one request.
type usedSecret struct{ name, plain string }

// secrets are those of one request. They live as long as its call.
type secrets []usedSecret

// redact takes the secrets out of what a server sent back: some echo what they
// were sent, and a result is an event (TO-7). It cannot see a secret that the
// server has changed, by an encoding for example.
func (s secrets) redact(text string) string {
	s = slices.Clone(s)
	// The longest first: one may be the beginning of another.
	slices.SortStableFunc(s, func(a, b usedSecret) int { return cmp.Compare(len(b.plain), len(a.plain)) })
	for _, secret := range s {
		if secret.plain != "" {
			text = strings.ReplaceAll(text, secret.plain, secretPrefix+secret.name)
		}
	}
	return text
}

// redactValue does the same for every text in a decoded JSON value, keys included, in
// place where it can; and for a number that is a secret.
func (s secrets) redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return s.redact(v)
	case float64:
		return s.redactNumber(v, strconv.FormatFloat(v, 'f', -1, 64))
	case int64, uint64, int, json.Number:
		return s.redactNumber(v, fmt.Sprint(v))
	case []any:
		for i := range v {
			v[i] = s.redactValue(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, member := range v {
			clean[s.redact(key)] = s.redactValue(member)
		}
		return clean
	}
	return v
}

// redactNumber is the number, or the name of the secret that it is.
func (s secrets) redactNumber(v any, digits string) any {
	for _, secret := range s {
		if digits == secret.plain {
			return secretPrefix + secret.name
		}
	}
	return v
}
