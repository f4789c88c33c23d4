package script

import (
	"bytes"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// checkpointVersion begins every checkpoint.
const checkpointVersion = 1

// What a checkpoint adds to what is kept, in bytes at most: heads, numbers and
// the entry that waits, twice where a handler is at work.
const checkpointHeads = 128

// AppendCheckpoint appends what is kept. It is a list in the encoding of package
// value,
//
//	[version, steps of all runs, scope] and, where a handler is at work, [… escalation, scope]
//
// and a scope is
//
//	[emits, digest, count, decides, [digest, answer …] …]
//
// where the first digest, count and decides are of the entry that waits, and an
// answer is [value], or [code, message].
func (t *tick) AppendCheckpoint(dst []byte) []byte {
	parts := uint64(3)
	if t.handler != nil {
		parts = 5
	}
	dst = value.AppendListHeader(dst, parts)
	dst = value.AppendInt(dst, checkpointVersion)
	dst = value.AppendInt(dst, int64(t.total))
	dst = t.main.appendTo(dst)
	if t.handler != nil {
		dst = append(dst, t.escalation...)
		dst = t.handler.appendTo(dst)
	}
	return dst
}

func (s *scope) appendTo(dst []byte) []byte {
	dst = value.AppendListHeader(dst, 4+uint64(len(s.kept)))
	dst = value.AppendInt(dst, int64(s.published))
	dst = value.AppendString(dst, s.digest)
	dst = value.AppendInt(dst, int64(s.count))
	dst = value.AppendBool(dst, s.decides)
	for i := range s.kept {
		dst = value.AppendListHeader(dst, 1+uint64(len(s.kept[i].answers)))
		dst = value.AppendString(dst, s.kept[i].digest)
		for _, a := range s.kept[i].answers {
			dst = appendAnswer(dst, a)
		}
	}
	return dst
}

func appendAnswer(dst []byte, a evaluator.Answer) []byte {
	if a.OK {
		return append(value.AppendListHeader(dst, 1), a.Value...)
	}
	dst = value.AppendListHeader(dst, 2)
	dst = value.AppendString(dst, string(a.Code))
	return value.AppendString(dst, a.Message)
}

// size is what the scope takes in a checkpoint, apart from heads.
func (s *scope) size() int {
	n := 0
	for i := range s.kept {
		n += 4 + digestBytes
		for _, a := range s.kept[i].answers {
			n += 4 + len(a.Value) + len(a.Code) + len(a.Message)
			if !a.OK {
				n += 4 - len(a.Value)
			}
		}
	}
	return n
}

// restore fills a new tick from a checkpoint. It answers false on bytes that
// AppendCheckpoint cannot have written: what was read must also give the same
// bytes when it is written again, so every store has one checkpoint.
func (t *tick) restore(checkpoint []byte) bool {
	if len(checkpoint) > t.maxStore || value.Check(checkpoint, t.maxStore) != nil {
		return false
	}
	rd := value.NewReader(checkpoint)
	parts, ok := rd.ReadListHeader()
	version, readable := rd.ReadInt()
	if !ok || !readable || version != checkpointVersion || parts != 3 && parts != 5 {
		return false
	}
	total, ok := rd.ReadInt()
	if !ok || total < 0 || total > MaxTotalSteps || !t.main.restore(&rd) {
		return false
	}
	t.total = uint64(total)
	if parts == 5 {
		t.handler = new(scope)
		if t.escalation = rd.Skip(); t.escalation == nil || !t.handler.restore(&rd) {
			return false
		}
		if !t.main.decides || !t.handler.waits() || t.handler.decides {
			return false
		}
	}
	return rd.Empty() && t.main.waits() && bytes.Equal(t.AppendCheckpoint(nil), checkpoint)
}

func (s *scope) restore(rd *value.Reader) bool {
	parts, ok := rd.ReadListHeader()
	if !ok || parts < 4 {
		return false
	}
	published, okPublished := rd.ReadInt()
	digest, okDigest := rd.ReadString()
	count, okCount := rd.ReadInt()
	decides, okDecides := rd.ReadBool()
	switch {
	case !okPublished || !okDigest || !okCount || !okDecides:
		return false
	case published < 0 || count < 0 || count > MaxParallel || len(digest) != digestBytes:
		return false
	}
	s.published, s.digest, s.count, s.decides = uint64(published), digest, uint64(count), decides
	for range parts - 4 {
		if !s.restoreEntry(rd) {
			return false
		}
	}
	return s.calls+s.count <= MaxCalls
}

func (s *scope) restoreEntry(rd *value.Reader) bool {
	parts, ok := rd.ReadListHeader()
	if !ok || parts < 2 || parts > 1+MaxParallel {
		return false
	}
	kept := entry{answers: make([]evaluator.Answer, parts-1)}
	if kept.digest, ok = rd.ReadString(); !ok || len(kept.digest) != digestBytes {
		return false
	}
	for i := range kept.answers {
		if kept.answers[i], ok = restoreAnswer(rd); !ok {
			return false
		}
	}
	s.kept = append(s.kept, kept)
	s.calls += parts - 1
	return true
}

func restoreAnswer(rd *value.Reader) (a evaluator.Answer, ok bool) {
	parts, ok := rd.ReadListHeader()
	switch {
	case ok && parts == 1:
		a.OK, a.Value = true, rd.Skip()
		return a, a.Value != nil
	case ok && parts == 2:
		code, okCode := rd.ReadString()
		message, okMessage := rd.ReadString()
		a.Code, a.Message, a.Value = failure.Code(code), message, value.Null
		return a, okCode && okMessage && len(message) <= failure.MaxMessage
	}
	return a, false
}
