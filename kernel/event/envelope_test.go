package event_test

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// EV-2: the golden list of event kinds. Numbers are part of the log: append,
// never change or reuse one.
func TestKinds(t *testing.T) {
	golden := map[event.Kind]string{
		1: "KERNEL_BOOTED", 2: "LEADER_STARTED", 3: "PULSE", 4: "CHECKPOINT", 5: "CLUSTER_RESTORED", 6: "KERNEL_UPGRADED",
		10: "AGENT_DEFINE", 11: "AGENT_START", 12: "AGENT_TRIGGER", 13: "AGENT_KILL", 14: "AGENT_SUBMIT",
		15: "AGENT_SEND", 16: "AGENT_RECLASSIFY", 17: "TOKEN_REVOKE", 18: "GRANT_REVOKE", 19: "ESCALATION_DECIDE",
		20: "TOOL_DISPATCHED", 21: "TOOL_RESULT",
		30: "SHARED_PUT", 31: "SHARED_DELETE", 32: "LOG_ARCHIVE", 33: "AGENT_FORK", 34: "KERNEL_SUSPEND", 35: "KERNEL_RESUME", 36: "BUDGET_SET", 37: "OPERATOR_ORDER",
		40: "RUN_PLAN", 41: "RUN_START", 42: "RUN_PAUSE", 43: "RUN_RESUME", 44: "RUN_KILL",
		50: "TOOL_REGISTER", 51: "TOOL_DEREGISTER", 52: "TASK_ANSWER",
		60: "AUTH_BOOTSTRAP", 61: "PRINCIPAL_PUT", 62: "PRINCIPAL_DELETE", 63: "ROLE_PUT", 64: "ROLE_DELETE", 65: "CREDENTIAL_PUT", 66: "CREDENTIAL_REVOKE",
	}
	commands := map[event.Kind]bool{30: true, 31: true, 32: true, 33: true, 34: true, 35: true, 36: true, 37: true, 40: true, 41: true, 42: true, 43: true, 44: true, 50: true, 51: true, 52: true}
	since := map[event.Kind]uint32{37: 2}
	for k := event.Kind(10); k < 20; k++ {
		commands[k] = true
	}
	for k := event.Kind(60); k <= 66; k++ {
		commands[k], since[k] = true, 2
	}
	for k := event.Kind(0); k < 1000; k++ {
		name, known := golden[k]
		if !known {
			name = "UNKNOWN_EVENT"
		}
		assert.Equal(t, known, k.Known(), "%d", k)
		assert.Equal(t, name, k.String())
		assert.Equal(t, commands[k], known && k.IsCommand(), "%d", k)
		assert.Equal(t, max(since[k], 1), k.Since(), "EV-9: %d", k)
	}
}

func anyEvent(t *rapid.T) event.Event {
	e := event.Event{
		Kind:      rapid.SampledFrom([]event.Kind{1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 30, 31, 32, 33, 34, 35, 36, 40, 41, 42, 43, 44}).Draw(t, "kind"),
		Wall:      rapid.Int64().Draw(t, "wall"),
		Principal: rapid.String().Draw(t, "principal"),
		Proposal:  rapid.Uint64().Draw(t, "proposal"),
		Body:      rapid.SliceOfN(rapid.Byte(), 1, 300).Draw(t, "body"),
	}
	if rapid.Bool().Draw(t, "session") {
		e.Session.ID[rapid.IntRange(0, 15).Draw(t, "at")] = 1
		e.Session.Seq, e.Session.Floor = rapid.Uint64().Draw(t, "seq"), rapid.Uint64().Draw(t, "floor")
	} else {
		e.IdempotencyKey = rapid.String().Draw(t, "key")
	}
	return e
}

// EV-2: what is appended is read back, and nothing but it: every other length
// and every flipped bit is refused.
func TestEnvelope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEvent(t)
		raw := e.Append([]byte("before"))[6:]
		back, err := event.Decode(raw)
		require.NoError(t, err)
		require.Equal(t, e, back)
		_, err = event.Decode(raw[:rapid.IntRange(0, len(raw)-1).Draw(t, "cut")])
		require.Error(t, err)
		_, err = event.Decode(append(append([]byte{}, raw...), 0))
		require.Error(t, err)
		raw[rapid.IntRange(0, len(raw)-1).Draw(t, "flipped")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		_, err = event.Decode(raw)
		require.Error(t, err)
	})
}

// sealed puts the checksum on an envelope's content.
func sealed(content []byte) []byte {
	return binary.LittleEndian.AppendUint32(content, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)))
}

// EV-2: each way in which an entry can be unreadable has its own error.
func TestDecodeErrors(t *testing.T) {
	good := (&event.Event{Kind: event.Pulse, Wall: 1}).Append(nil)
	content := good[:len(good)-4]
	changed := func(at int, b ...byte) []byte {
		return sealed(append(append(append([]byte{}, content[:at]...), b...), content[at+1:]...))
	}
	require.Equal(t, good, sealed(append([]byte{}, content...)))
	for name, test := range map[string]struct {
		raw []byte
		err error
	}{
		"empty":              {nil, event.ErrMalform},
		"short":              {make([]byte, 4), event.ErrMalform},
		"beyond the limit":   {make([]byte, event.MaxBytes+1), event.ErrMalform},
		"damaged":            {append(append([]byte{}, content...), 1, 2, 3, 4), event.ErrChecksum},
		"format":             {changed(0, 1), event.ErrFormat},
		"kind":               {changed(1, 9), event.ErrKind},
		"kind 0":             {changed(1, 0), event.ErrKind},
		"kind past 16 bits":  {changed(1, 0x83, 0x80, 0x04), event.ErrMalform},
		"long form":          {changed(1, 0x83, 0x00), event.ErrMalform},
		"a flag of 2":        {changed(4, 2), event.ErrMalform},
		"a session of zeros": {changed(4, append(append([]byte{1}, make([]byte, 16)...), 1, 1)...), event.ErrMalform},
		"bytes after it":     {sealed(append(append([]byte{}, content...), 0)), event.ErrMalform},
	} {
		_, err := event.Decode(test.raw)
		assert.ErrorIs(t, err, test.err, name)
	}
}

// CL-3: a session's id says when it was minted.
func TestSessionOpenedAt(t *testing.T) {
	require.Equal(t, int64(0x0102030405ff), event.Session{ID: [16]byte{1, 2, 3, 4, 5, 0xff, 9}}.OpenedAt())
	require.False(t, event.Session{Seq: 1, Floor: 1}.Present())
	require.True(t, event.Session{ID: [16]byte{15: 1}}.Present())
}

// LC-2: an outcome is data; it and the record of a retry are read back as they
// were, and not beyond.
func TestOutcome(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := event.Outcome{
			Refusal: failure.Refusal{
				Code: failure.Code(rapid.String().Draw(t, "code")), Field: rapid.String().Draw(t, "field"),
				Rule: rapid.String().Draw(t, "rule"), Hint: rapid.String().Draw(t, "hint"),
			},
			Agent: [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "agent")), State: rapid.Byte().Draw(t, "state"),
			Index: rapid.Uint64().Draw(t, "index"), Seq: rapid.Uint64().Draw(t, "seq"),
		}
		raw := o.AppendTo(nil)
		back, ok := event.DecodeOutcome(raw)
		require.True(t, ok)
		require.Equal(t, &o, back)
		require.Equal(t, o.Refusal.Code == "", o.Done())
		_, ok = event.DecodeOutcome(raw[:len(raw)-1])
		require.False(t, ok)
	})
}

// Bodies: what the log holds is what the struct was, byte for byte; unknown
// fields, duplicate keys and indefinite lengths are not read.
func TestBodies(t *testing.T) {
	define := event.Define{ID: "x", Labels: map[string]string{"b": "2", "a": "1", "cc": "3"}, Env: map[string]string{}}
	raw := event.Encode(define)
	for range 20 {
		require.Equal(t, raw, event.Encode(define), "maps are written in one order")
	}
	back, ok := event.DecodeBody[event.Define](raw)
	require.True(t, ok)
	require.Equal(t, define.Labels, back.Labels)
	for name, bad := range map[string]string{
		"unknown field":     "\xa1\x18\x63\x01",
		"duplicate key":     "\xa2\x01\x61x\x01\x61y",
		"indefinite map":    "\xbf\xff",
		"indefinite text":   "\xa1\x01\x7f\x61x\xff",
		"a tag":             "\xc0\xa0",
		"invalid UTF-8":     "\xa1\x01\x61\xff",
		"another type":      "\xa1\x01\x05",
		"cut":               "\xa1\x01",
		"bytes after it":    "\xa0\xa0",
		"too deep":          strings.Repeat("\x81", 20) + "\x01",
		"a length too far":  "\xa1\x08\x5b\x7f\xff\xff\xff\xff\xff\xff\xff",
		"a map of billions": "\xba\xff\xff\xff\xff",
		"key as text":       "\xa1\x61\x31\x61x",
	} {
		_, ok := event.DecodeBody[event.Define]([]byte(bad))
		assert.False(t, ok, name)
	}
	_, ok = event.DecodeBody[event.Result]([]byte("\xa1\x08\x1b\xff\xff\xff\xff\xff\xff\xff\xff"))
	assert.False(t, ok, "beyond 64 bits signed")
	require.Equal(t, int64(math.MaxInt64), maxMillis(t))
}

func maxMillis(t *testing.T) int64 {
	back, ok := event.DecodeBody[event.Result](event.Encode(event.Result{Millis: math.MaxInt64}))
	require.True(t, ok)
	return back.Millis
}
