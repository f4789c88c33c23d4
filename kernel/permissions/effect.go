package permissions

import "errors"

// Effect is what a grant says about what it matches. The numbers are part of
// the event format: append, never renumber. Zero is no effect, so that a grant
// whose effect was left out is refused instead of allowing something.
type Effect uint8

// The three effects of PE-1.
const (
	Allow Effect = iota + 1
	Deny
	Escalate
)

var effectNames = [...]string{Allow: "ALLOW", Deny: "DENY", Escalate: "ESCALATE"}

var errNoEffect = errors.New("effect must be ALLOW, DENY or ESCALATE")

// Valid reports whether e is one of the three effects.
func (e Effect) Valid() bool { return e >= Allow && e <= Escalate }

// String returns the specification's name of the effect.
func (e Effect) String() string {
	if !e.Valid() {
		return "NO_EFFECT"
	}
	return effectNames[e]
}

// MarshalText gives the effect its name in JSON; in CBOR it is its number.
func (e Effect) MarshalText() ([]byte, error) {
	if !e.Valid() {
		return nil, errNoEffect
	}
	return []byte(effectNames[e]), nil
}

// UnmarshalText accepts exactly the three names.
func (e *Effect) UnmarshalText(text []byte) error {
	for effect := Allow; effect <= Escalate; effect++ {
		if string(text) == effectNames[effect] {
			*e = effect
			return nil
		}
	}
	return errNoEffect
}

// rank orders the effects as PE-2 asks them: a lower rank decides first. What
// is no effect stands with DENY, so that a Verdict nobody filled in allows nothing.
func (e Effect) rank() uint8 {
	switch e {
	case Allow:
		return 2
	case Escalate:
		return 1
	default:
		return 0
	}
}
