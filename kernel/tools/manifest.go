package tools

import (
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Manifest is what somebody registers as a tool (TO-9). The kernel reads what it
// judges, reserves and waits by; configuration and schemas are the adapter's and the
// runner's, which never run in Apply. Secrets are named, and are never in it (TO-7).
type Manifest struct {
	Name          string    `cbor:"1,keyasint" json:"name" doc:"what programs call it: dotted words of lower-case letters, digits, _ and -, at most 128 bytes"`
	Version       string    `cbor:"2,keyasint,omitempty" json:"version,omitempty" doc:"a version for people, at most 64 bytes"`
	Description   string    `cbor:"3,keyasint,omitempty" json:"description,omitempty" doc:"for people, and for models that choose among tools; at most 4,096 bytes"`
	Adapter       string    `cbor:"4,keyasint" json:"adapter" doc:"the kind of adapter that runs it"`
	Config        value.Raw `cbor:"5,keyasint,omitempty" json:"config,omitempty" doc:"what the adapter needs to know, an object"`
	Input         value.Raw `cbor:"6,keyasint,omitempty" json:"input,omitempty" doc:"JSON Schema of the arguments; accepts everything when absent"`
	Output        value.Raw `cbor:"7,keyasint,omitempty" json:"output,omitempty" doc:"JSON Schema of the result; accepts everything when absent"`
	TimeoutMillis int64     `cbor:"8,keyasint,omitempty" json:"timeout_ms,omitempty" doc:"milliseconds that a call may take that does not say so itself; the kernel's default_call_timeout_ms when 0"`
	Retry         Retry     `cbor:"9,keyasint,omitempty" json:"retry,omitzero"`
	Idempotent    bool      `cbor:"10,keyasint,omitempty" json:"idempotent,omitempty" doc:"a call may be made again after a failover, and after a failure that may have done something"`
	Concurrency   uint32    `cbor:"11,keyasint,omitempty" json:"concurrency,omitempty" doc:"how many calls may be under way at once; as many as the node allows when 0"`
	Cost          Cost      `cbor:"12,keyasint,omitempty" json:"cost,omitzero"`
	Secrets       []string  `cbor:"13,keyasint,omitempty" json:"secrets,omitempty" doc:"names of the secrets that the adapter may use, which are resolved on the node that runs the call"`
	Segments      []string  `cbor:"14,keyasint,omitempty" json:"resource,omitempty" doc:"arguments whose values become segments of the resource that a call is judged as, after the tool's name"`
}

// Retry says how often a call is tried, within its time. What may have done
// something is tried again only where the tool is idempotent.
type Retry struct {
	MaxAttempts      uint32 `cbor:"1,keyasint,omitempty" json:"max_attempts,omitempty" doc:"1 when 0: not again"`
	BackoffMillis    int64  `cbor:"2,keyasint,omitempty" json:"backoff_ms,omitempty" doc:"before the second attempt; it doubles from one to the next; 200 when 0"`
	MaxBackoffMillis int64  `cbor:"3,keyasint,omitempty" json:"max_backoff_ms,omitempty" doc:"5,000 when 0"`
}

// Cost is the most that one call may come to, which is reserved (RU-3).
type Cost struct {
	Tokens    uint64 `cbor:"1,keyasint,omitempty" json:"tokens,omitempty"`
	USDMicros uint64 `cbor:"2,keyasint,omitempty" json:"usd_micros,omitempty" doc:"millionths of a US dollar"`
}

// Bounds of a manifest's members. Its whole is bounded by the configuration.
const (
	maxNameBytes        = 128
	maxVersionBytes     = 64
	maxDescriptionBytes = 4096
	maxAttempts         = 20
	maxConcurrency      = 10_000
	maxSecrets          = 32
	maxSegments         = 8
)

// reserved are first words of the names of kernel tools, present and to come.
var reserved = [...]string{"agent", "clock", "kernel", "mailbox", "memory", "random", "shared", "timer", "tool", "uuid"}

// Check holds the rules of a manifest that need no adapter; maxMillis bounds its
// times, and maxBytes its canonical form. The field is a path within the manifest.
func (m *Manifest) Check(maxBytes uint32, maxMillis int64) *failure.Refusal {
	if r := m.checkName(); r != nil {
		return r
	}
	switch {
	case len(m.Version) > maxVersionBytes:
		return bad("version", "must be at most 64 bytes")
	case len(m.Description) > maxDescriptionBytes:
		return bad("description", "must be at most 4096 bytes")
	case !isWord(m.Adapter) || len(m.Adapter) > 32:
		return bad("adapter", "must be one word of lower-case letters, digits, _ and -")
	case m.TimeoutMillis < 0 || m.TimeoutMillis > maxMillis:
		return bad("timeout_ms", "must be from 0 to "+strconv.FormatInt(maxMillis, 10)+", which is the kernel's max_call_timeout_ms")
	case m.Retry.MaxAttempts > maxAttempts:
		return bad("retry.max_attempts", "must be from 0 to 20")
	case m.Retry.BackoffMillis < 0 || m.Retry.BackoffMillis > maxMillis:
		return bad("retry.backoff_ms", "must be from 0 to "+strconv.FormatInt(maxMillis, 10))
	case m.Retry.MaxBackoffMillis < 0 || m.Retry.MaxBackoffMillis > maxMillis:
		return bad("retry.max_backoff_ms", "must be from 0 to "+strconv.FormatInt(maxMillis, 10))
	case m.Concurrency > maxConcurrency:
		return bad("concurrency", "must be from 0 to 10000")
	case m.Cost.Tokens > MaxCost:
		return bad("cost.tokens", "must be at most 2^40")
	case m.Cost.USDMicros > MaxCost:
		return bad("cost.usd_micros", "must be at most 2^40")
	}
	if r := m.checkLists(); r != nil {
		return r
	}
	for _, member := range [...]struct {
		field string
		raw   value.Raw
		bools bool
	}{{"config", m.Config, false}, {"input", m.Input, true}, {"output", m.Output, true}} {
		if r := checkMember(member.field, member.raw, member.bools, maxBytes); r != nil {
			return r
		}
	}
	if size := len(m.AppendTo(nil)); uint64(size) > uint64(maxBytes) {
		return bad("", "the manifest must be at most "+strconv.FormatUint(uint64(maxBytes), 10)+" bytes, which is the kernel's max_manifest_bytes; it is "+strconv.Itoa(size))
	}
	return nil
}

func (m *Manifest) checkName() *failure.Refusal {
	if !IsName(m.Name) {
		return bad("name", "must be dotted words of lower-case letters, digits, _ and -, at most 128 bytes")
	}
	if _, taken := Find(m.Name); taken {
		return bad("name", "is the name of a tool that is built in")
	}
	first, _, _ := strings.Cut(m.Name, ".")
	for _, word := range reserved {
		if first == word {
			return bad("name", "must not begin with the word "+word+", which is kept for tools of the kernel")
		}
	}
	return nil
}

func (m *Manifest) checkLists() *failure.Refusal {
	if len(m.Secrets) > maxSecrets {
		return bad("secrets", "must be at most 32")
	}
	for i, name := range m.Secrets {
		at := "secrets[" + strconv.Itoa(i) + "]"
		if !isSecretName(name) {
			return bad(at, "must be the name of a secret: letters, digits and _, at most 128 bytes")
		}
		if contains(m.Secrets[:i], name) {
			return bad(at, "must not be named twice")
		}
	}
	if len(m.Segments) > maxSegments {
		return bad("resource", "must be at most 8 arguments")
	}
	for i, name := range m.Segments {
		at := "resource[" + strconv.Itoa(i) + "]"
		if name == "" || len(name) > maxNameBytes {
			return bad(at, "must be the name of an argument, 1 to 128 bytes")
		}
		if contains(m.Segments[:i], name) {
			return bad(at, "must not be named twice")
		}
	}
	return nil
}

// checkMember holds a value to the value model: an object, or where that is a schema
// one of the two that JSON Schema writes as booleans.
func checkMember(field string, raw value.Raw, bools bool, maxBytes uint32) *failure.Refusal {
	if len(raw) == 0 {
		return nil
	}
	if p := value.Check(raw, int(maxBytes)); p != nil {
		return &failure.Refusal{Code: failure.InvalidValue, Field: value.JoinKey(field, p.Path), Rule: p.Rule}
	}
	rd := value.NewReader(raw)
	switch kind := rd.Kind(); {
	case kind == value.MapKind, bools && kind == value.BoolKind:
		return nil
	case bools:
		return bad(field, "must be a JSON Schema: an object, true or false")
	}
	return bad(field, "must be an object")
}

func bad(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}

// IsName keeps to what stands in a resource without any escape.
func IsName(name string) bool {
	if len(name) > maxNameBytes {
		return false
	}
	for word := range strings.SplitSeq(name, ".") {
		if !isWord(word) {
			return false
		}
	}
	return true
}

func isWord(word string) bool {
	for i := range len(word) {
		c := word[i]
		if (c < 'a' || c > 'z') && !isDigit(c) && c != '_' && c != '-' {
			return false
		}
	}
	return word != ""
}

func isSecretName(name string) bool {
	for i := range len(name) {
		if !isLetter(name[i]) && !isDigit(name[i]) && name[i] != '_' {
			return false
		}
	}
	return name != "" && len(name) <= maxNameBytes
}

// AppendTo writes the manifest's canonical form: equal manifests give equal bytes.
func (m *Manifest) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(dst, m.Name)
	dst = bus.AppendText(dst, m.Version)
	dst = bus.AppendText(dst, m.Description)
	dst = bus.AppendText(dst, m.Adapter)
	dst = bus.AppendText(bus.AppendText(bus.AppendText(dst, m.Config), m.Input), m.Output)
	dst = bus.AppendInt(dst, m.TimeoutMillis)
	dst = bus.AppendUint(dst, uint64(m.Retry.MaxAttempts))
	dst = bus.AppendInt(bus.AppendInt(dst, m.Retry.BackoffMillis), m.Retry.MaxBackoffMillis)
	dst = bus.AppendBool(dst, m.Idempotent)
	dst = bus.AppendUint(dst, uint64(m.Concurrency))
	dst = bus.AppendUint(bus.AppendUint(dst, m.Cost.Tokens), m.Cost.USDMicros)
	return appendTexts(appendTexts(dst, m.Secrets), m.Segments)
}

func appendTexts(dst []byte, list []string) []byte {
	dst = bus.AppendUint(dst, uint64(len(list)))
	for _, s := range list {
		dst = bus.AppendText(dst, s)
	}
	return dst
}

// readManifest reads what AppendTo wrote. Nothing in it aliases the bytes.
func readManifest(d *bus.Decoder) (*Manifest, bool) {
	m := &Manifest{
		Name: d.Text(), Version: d.Text(), Description: d.Text(), Adapter: d.Text(),
		Config: own(d.Bytes()), Input: own(d.Bytes()), Output: own(d.Bytes()), TimeoutMillis: d.Int(),
		Retry:      Retry{MaxAttempts: d.Uint32(), BackoffMillis: d.Int(), MaxBackoffMillis: d.Int()},
		Idempotent: d.Bool(), Concurrency: d.Uint32(), Cost: Cost{Tokens: d.Uint(), USDMicros: d.Uint()},
	}
	var ok bool
	if m.Secrets, ok = texts(d); !ok {
		return nil, false
	}
	m.Segments, ok = texts(d)
	return m, ok
}

func own(raw []byte) value.Raw {
	if len(raw) == 0 {
		return nil
	}
	return append(value.Raw(nil), raw...)
}

func texts(d *bus.Decoder) (list []string, ok bool) {
	n := d.Uint()
	if n > d.Left() {
		return nil, false
	}
	for range n {
		list = append(list, d.Text())
	}
	return list, true
}
