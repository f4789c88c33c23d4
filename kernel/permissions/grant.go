package permissions

// Limits of what Compile accepts. The last two also bound what Evaluate is
// asked about: a longer resource matches nothing.
const (
	MaxGrants   = 256  // grants of one agent
	MaxBytes    = 1024 // bytes of an action, of a pattern, of a resource
	MaxSegments = 64   // segments of an action, of a pattern, of a resource
)

// Grant is one sentence about what an agent may do (PE-1).
//
// Action is a dotted lower-case name such as `tool.call`, or one that ends in
// `.*` and then speaks of every action below that name.
//
// Resource is a pattern of segments separated by `/`. A segment is literal
// text without `*`, or `*` for exactly one segment; the last may be `**` for
// the rest, none included: `http.request/GET/*/v1/**`.
//
// NotAfterMillis is the last moment, in Unix milliseconds of kernel time, at
// which the grant says anything; zero means for ever. It is tested when the
// grant is used (EV-6).
type Grant struct {
	Effect         Effect `json:"effect" cbor:"1,keyasint"`
	Action         string `json:"action" cbor:"2,keyasint"`
	Resource       string `json:"resource" cbor:"3,keyasint"`
	NotAfterMillis int64  `json:"not_after_ms,omitempty" cbor:"4,keyasint,omitempty"`
}

// DefaultDeny is the Verdict.Grant of a request that no grant speaks of.
const DefaultDeny int32 = -1

// Verdict is the answer to one request. Grant is the position of the deciding
// grant in Set.Grants, DefaultDeny if there is none.
type Verdict struct {
	Effect Effect
	Grant  int32
}
