package failure

// Class says what the kernel does about a failure (kernel-architecture.md
// section 8, FA-1 … FA-4). The numbers are part of the log format.
type Class uint8

// The four failure classes. Unclassified marks a failure that changes no
// agent's state (EX-5).
const (
	Unclassified Class = iota
	Transient
	Permanent
	PolicyViolation
	InvariantBreach
)

var classNames = [...]string{"", "TRANSIENT", "PERMANENT", "POLICY_VIOLATION", "INVARIANT_BREACH"}

// String returns the specification's name of the class.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "UNKNOWN_CLASS"
}

// MarshalText gives the class its name in JSON.
func (c Class) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Failure ends a tick, or answers a call that did not succeed.
// Message is one of our own sentences, at most MaxMessage bytes. Node, Line
// and Column locate it in the agent's program where that is known: Node is the
// instruction's number in preorder, Line and Column are 1-based inside the
// expression; all zero when unknown.
type Failure struct {
	Code    Code
	Message string
	Node    uint32
	Line    uint32
	Column  uint32
}

// Class of the failure, from the code table.
func (f *Failure) Class() Class { return ClassOf(f.Code) }

// Refusal is the answer to a command that the kernel, or the door in front of
// it, judged and will not carry out. Nothing was changed.
type Refusal struct {
	Code  Code   // definite: see the code table
	Field string // the offending field as a path, "program.payload.steps[2].kind"; empty when no one field is
	Rule  string // the rule that was broken, as a sentence
	Hint  string // what to do about it; empty when the rule says it
}

// MaxMessage bounds every message, rule and hint, in bytes.
const MaxMessage = 512

// Clip cuts s to MaxMessage bytes at a rune boundary.
func Clip(s string) string {
	if len(s) <= MaxMessage {
		return s
	}
	cut := MaxMessage
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut]
}
