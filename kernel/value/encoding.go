package value

import "errors"

// maxDocument bounds what UnmarshalJSON reads, in bytes of canonical form. The
// doors bound bodies tighter.
const maxDocument = 4 << 20

// MarshalJSON writes the value for encoding/json; no value is null.
func (r Raw) MarshalJSON() ([]byte, error) {
	if len(r) == 0 {
		return []byte("null"), nil
	}
	return r.AppendJSON(nil), nil
}

// UnmarshalJSON reads the value strictly, as FromJSON does.
func (r *Raw) UnmarshalJSON(src []byte) error {
	raw, problem := FromJSON(src, maxDocument)
	if problem != nil {
		return errors.New(problem.String())
	}
	*r = raw
	return nil
}
