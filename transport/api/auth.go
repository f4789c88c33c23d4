package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Bearer is a token, which is what its owner has: an id, which everybody may know, and a secret, which
// stays with the owner. The cluster knows the secret's hash.
type Bearer struct {
	ID     string
	Secret string
}

// tokenPrefix begins every token, so that one is recognised where it should not be.
const tokenPrefix = "omni_"

// NewBearer makes a token: 80 random bits of id and 256 of secret.
func NewBearer() Bearer {
	var id [10]byte
	var secret [32]byte
	_, _ = rand.Read(id[:]) // it never fails
	_, _ = rand.Read(secret[:])
	return Bearer{
		ID:     strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(id[:])),
		Secret: base64.RawURLEncoding.EncodeToString(secret[:]),
	}
}

// String is the token as its owner keeps it.
func (t Bearer) String() string { return tokenPrefix + t.ID + "_" + t.Secret }

// Hash is what the cluster is told of the secret: its SHA-256, in hexadecimal.
func (t Bearer) Hash() string {
	sum := sha256.Sum256([]byte(t.Secret))
	return hex.EncodeToString(sum[:])
}

// maxToken bounds a token's text.
const maxToken = 128

// ParseBearer reads a token.
func ParseBearer(text string) (t Bearer, ok bool) {
	rest, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(text) > maxToken {
		return Bearer{}, false
	}
	t.ID, t.Secret, ok = strings.Cut(rest, "_")
	return t, ok && len(t.ID) >= 8 && len(t.ID) <= 32 && len(t.Secret) == 43
}

// BootstrapBody turns authorization on.
type BootstrapBody struct {
	Credential     string `json:"credential" doc:"id of the first administrator's token, 8 to 32 lower-case letters and digits"`
	Hash           string `json:"hash" doc:"SHA-256 of the token's secret, 64 hexadecimal digits"`
	NotAfterMillis int64  `json:"not_after_ms,omitempty" doc:"last moment that the token is in force, Unix milliseconds; for ever when 0"`
	Description    string `json:"description,omitempty" doc:"of the token, 0 to 256 bytes"`
}

// PrincipalBody makes a principal, or replaces what is known of one.
type PrincipalBody struct {
	Kind        string   `json:"kind,omitempty" enum:"person,service" doc:"person when empty; for people to read"`
	Description string   `json:"description,omitempty" doc:"0 to 256 bytes"`
	Roles       []string `json:"roles,omitempty" doc:"names of roles that there are, at most 32"`
	Disabled    bool     `json:"disabled,omitempty" doc:"its credentials are refused while it is"`
	Version     *uint64  `json:"version,omitempty" doc:"the version that it must have, 0 for one that must not exist"`
}

// RoleBody makes a role, or replaces its grants.
type RoleBody struct {
	Description string              `json:"description,omitempty" doc:"0 to 256 bytes"`
	Grants      []permissions.Grant `json:"grants,omitempty" doc:"what the role lets do; DENY goes before ALLOW, and the action ** is every action"`
	Version     *uint64             `json:"version,omitempty" doc:"the version that it must have, 0 for one that must not exist"`
}

// CredentialBody makes a token, of which the secret stays with whoever made it.
type CredentialBody struct {
	ID             string `json:"id" doc:"8 to 32 lower-case letters and digits"`
	Principal      string `json:"principal" doc:"whose token it is"`
	Hash           string `json:"hash" doc:"SHA-256 of the token's secret, 64 hexadecimal digits"`
	NotAfterMillis int64  `json:"not_after_ms,omitempty" doc:"last moment that it is in force, Unix milliseconds; for ever when 0"`
	Description    string `json:"description,omitempty" doc:"0 to 256 bytes"`
}

// RevokeCredentialBody ends a credential.
type RevokeCredentialBody struct {
	Reason         string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
	NotAfterMillis int64  `json:"not_after_ms,omitempty" doc:"of a certificate: when it expires, after which the revocation may be forgotten; never when 0"`
}

// ReasonBody says why.
type ReasonBody struct {
	Reason string `json:"reason,omitempty" doc:"kept in the record, 0 to 256 bytes"`
}

// AuthStatus tells whether callers are judged.
type AuthStatus struct {
	On          bool   `json:"on" doc:"false: everybody may do everything"`
	SinceMillis int64  `json:"since_ms,omitempty" doc:"kernel clock, Unix milliseconds"`
	BusSeq      uint64 `json:"bus_seq,omitempty" doc:"of the record that turned it on"`
	Principals  int    `json:"principals"`
	Roles       int    `json:"roles"`
	Credentials int    `json:"credentials" doc:"tokens, and certificates that were revoked; those that are over included"`
	As
}

// Whoami is who a request came from.
type Whoami struct {
	On         bool     `json:"on" doc:"false: everybody may do everything, as client"`
	Principal  string   `json:"principal"`
	Credential string   `json:"credential,omitempty" doc:"id of the token, or cert: and the certificate's serial number"`
	NotAfter   int64    `json:"not_after_ms,omitempty" doc:"last moment that the token is in force, Unix milliseconds"`
	Roles      []string `json:"roles"`
	As
}

// Principal is one who may come with a credential.
type Principal struct {
	Name        string   `json:"name"`
	Kind        string   `json:"kind" enum:"person,service"`
	Description string   `json:"description,omitempty"`
	Roles       []string `json:"roles"`
	Disabled    bool     `json:"disabled"`
	Version     uint64   `json:"version"`
	SinceMillis int64    `json:"since_ms" doc:"when it was written last, kernel clock, Unix milliseconds"`
	By          string   `json:"by" doc:"who wrote it last"`
}

// PrincipalAnswer is one principal, with its tokens.
type PrincipalAnswer struct {
	Principal
	Tokens []Credential `json:"tokens"`
	As
}

// PrincipalPage is a page of principals.
type PrincipalPage struct {
	Principals []Principal `json:"principals"`
	Next       string      `json:"next,omitempty" doc:"name to ask on after"`
	As
}

// Role is a set of grants.
type Role struct {
	Name        string              `json:"name"`
	Description string              `json:"description,omitempty"`
	Grants      []permissions.Grant `json:"grants"`
	Version     uint64              `json:"version"`
	SinceMillis int64               `json:"since_ms" doc:"when it was written last, kernel clock, Unix milliseconds"`
	By          string              `json:"by" doc:"who wrote it last"`
}

// RoleAnswer is one role.
type RoleAnswer struct {
	Role
	As
}

// RolePage is a page of roles.
type RolePage struct {
	Roles []Role `json:"roles"`
	Next  string `json:"next,omitempty" doc:"name to ask on after"`
	As
}

// Credential is a token, or a client certificate that was revoked. Nobody but its owner
// has its secret.
type Credential struct {
	ID            string `json:"id"`
	Principal     string `json:"principal,omitempty" doc:"none of a certificate"`
	State         string `json:"state" enum:"in force,expired,revoked"`
	NotAfter      int64  `json:"not_after_ms,omitempty" doc:"last moment that it is in force, Unix milliseconds; for ever when 0"`
	Description   string `json:"description,omitempty"`
	SinceMillis   int64  `json:"since_ms" doc:"kernel clock, Unix milliseconds"`
	By            string `json:"by" doc:"who made it"`
	RevokedMillis int64  `json:"revoked_ms,omitempty" doc:"kernel clock, Unix milliseconds"`
	RevokedBy     string `json:"revoked_by,omitempty"`
	Reason        string `json:"reason,omitempty"`
}

// CredentialPage is a page of credentials.
type CredentialPage struct {
	Credentials []Credential `json:"credentials"`
	Next        string       `json:"next,omitempty" doc:"id to ask on after"`
	As
}
