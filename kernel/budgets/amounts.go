package budgets

import "math"

// MaxCall bounds what one call may declare or report, and MaxLimit what an
// account may allow, of tokens and of micro-dollars each.
const (
	MaxCall  = 1 << 40
	MaxLimit = 1 << 53
)

// Amounts is what calls cost.
type Amounts struct {
	_         struct{} `cbor:",toarray"`
	Tokens    uint64
	USDMicros uint64 // millionths of a US dollar
}

// Zero reports whether there is nothing to pay.
func (a Amounts) Zero() bool { return a.Tokens == 0 && a.USDMicros == 0 }

// Plus is the sum. It stays at the largest number rather than begin anew.
func (a Amounts) Plus(b Amounts) Amounts {
	return Amounts{Tokens: plus(a.Tokens, b.Tokens), USDMicros: plus(a.USDMicros, b.USDMicros)}
}

func plus(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

// Minus takes away what is there.
func (a Amounts) Minus(b Amounts) Amounts {
	if a.Tokens < b.Tokens || a.USDMicros < b.USDMicros {
		panic("budgets: more is taken back than was reserved")
	}
	return Amounts{Tokens: a.Tokens - b.Tokens, USDMicros: a.USDMicros - b.USDMicros}
}

// Beyond is what of it is more than most.
func (a Amounts) Beyond(most Amounts) Amounts {
	return Amounts{Tokens: beyond(a.Tokens, most.Tokens), USDMicros: beyond(a.USDMicros, most.USDMicros)}
}

func beyond(n, most uint64) uint64 {
	if n <= most {
		return 0
	}
	return n - most
}

// AtMost takes what is more than MaxCall as MaxCall.
func (a Amounts) AtMost() Amounts {
	return Amounts{Tokens: min(a.Tokens, MaxCall), USDMicros: min(a.USDMicros, MaxCall)}
}

// Kind is what a limit is about. Numbers are part of the log format.
type Kind uint8

// The kinds.
const (
	Tokens Kind = iota + 1
	USDMicros
	WallMillis
)

var kindNames = [...]string{"", "tokens", "usd_micros", "wall_ms"}

// String names the kind as the API does.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

func (k Kind) bit() uint8 { return 1 << k }

// of is the kind's part of what calls cost.
func (k Kind) of(a Amounts) uint64 {
	if k == Tokens {
		return a.Tokens
	}
	return a.USDMicros
}
