package event

import "github.com/omnikernel/omnikernel/kernel/permissions"

// BootstrapAuth turns authorization on (AU-2): it makes the role admin, the principal
// admin and its first token, of which the secret stays with whoever made it.
type BootstrapAuth struct {
	Credential     string   `cbor:"1,keyasint" json:"credential" doc:"id of the token, 8 to 32 lower-case letters and digits"`
	Hash           [32]byte `cbor:"2,keyasint" json:"-"`
	NotAfterMillis int64    `cbor:"3,keyasint,omitempty" json:"not_after_ms,omitempty" doc:"last moment that the token is in force, Unix milliseconds; for ever when 0"`
	Description    string   `cbor:"4,keyasint,omitempty" json:"description,omitempty" doc:"of the token, 0 to 256 bytes"`
}

// PutPrincipal makes a principal, or replaces what is known of one.
type PutPrincipal struct {
	Name        string   `cbor:"1,keyasint" json:"name" doc:"1 to 63 bytes of lower-case letters, digits, dots, underscores and dashes"`
	Kind        string   `cbor:"2,keyasint,omitempty" json:"kind,omitempty" enum:"person,service" doc:"person when empty; for people to read"`
	Description string   `cbor:"3,keyasint,omitempty" json:"description,omitempty" doc:"0 to 256 bytes"`
	Roles       []string `cbor:"4,keyasint,omitempty" json:"roles,omitempty" doc:"names of roles that there are, at most 32"`
	Disabled    bool     `cbor:"5,keyasint,omitempty" json:"disabled,omitempty" doc:"its credentials are refused while it is"`
	Version     *uint64  `cbor:"6,keyasint,omitempty" json:"version,omitempty" doc:"the version that it must have, 0 for one that must not exist"`
}

// DeletePrincipal takes a principal away, and its tokens.
type DeletePrincipal struct {
	Name   string `cbor:"1,keyasint" json:"name"`
	Reason string `cbor:"2,keyasint,omitempty" json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// PutRole makes a role, or replaces its grants.
type PutRole struct {
	Name        string              `cbor:"1,keyasint" json:"name" doc:"1 to 63 bytes of lower-case letters, digits, dots, underscores and dashes"`
	Description string              `cbor:"2,keyasint,omitempty" json:"description,omitempty" doc:"0 to 256 bytes"`
	Grants      []permissions.Grant `cbor:"3,keyasint,omitempty" json:"grants,omitempty" doc:"what the role lets do; DENY goes before ALLOW, and the action ** is every action"`
	Version     *uint64             `cbor:"4,keyasint,omitempty" json:"version,omitempty" doc:"the version that it must have, 0 for one that must not exist"`
}

// DeleteRole takes a role away that no principal has.
type DeleteRole struct {
	Name   string `cbor:"1,keyasint" json:"name"`
	Reason string `cbor:"2,keyasint,omitempty" json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// PutCredential makes a token. Its secret stays with whoever made it: the cluster is
// told the SHA-256 of it.
type PutCredential struct {
	ID             string   `cbor:"1,keyasint" json:"id" doc:"8 to 32 lower-case letters and digits"`
	Principal      string   `cbor:"2,keyasint" json:"principal" doc:"whose token it is"`
	Hash           [32]byte `cbor:"3,keyasint" json:"-"`
	NotAfterMillis int64    `cbor:"4,keyasint,omitempty" json:"not_after_ms,omitempty" doc:"last moment that it is in force, Unix milliseconds; for ever when 0"`
	Description    string   `cbor:"5,keyasint,omitempty" json:"description,omitempty" doc:"0 to 256 bytes"`
}

// RevokeCredential ends a token, or a client certificate, from this event on.
type RevokeCredential struct {
	ID             string `cbor:"1,keyasint" json:"id" doc:"of a token, or cert: and a certificate's serial number in hexadecimal"`
	Reason         string `cbor:"2,keyasint,omitempty" json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
	NotAfterMillis int64  `cbor:"3,keyasint,omitempty" json:"not_after_ms,omitempty" doc:"of a certificate: when it expires, after which the revocation may be forgotten; never when 0"`
}
