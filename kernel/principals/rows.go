package principals

import (
	"strings"

	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// Role is a set of grants that principals can have.
type Role struct {
	_           struct{} `cbor:",toarray"`
	Name        string
	Description string
	Grants      []permissions.Grant
	Version     uint64 // busSeq of the record that wrote it
	At          int64  // kernel clock then, Unix milliseconds
	By          string // principal

	set *permissions.Set
}

// Principal is somebody who may come with a credential.
type Principal struct {
	_           struct{} `cbor:",toarray"`
	Name        string
	Kind        string // Person or Service
	Description string
	Roles       []string
	Disabled    bool
	Version     uint64 // busSeq of the record that wrote it
	At          int64  // kernel clock then, Unix milliseconds
	By          string // principal
}

// Credential is a token, or a client certificate that was revoked: those that are in
// force are known by their authority, and are not on any list.
type Credential struct {
	_           struct{} `cbor:",toarray"`
	ID          string   // of a token; of a certificate "cert:" and its serial number
	Principal   string   // empty for a certificate
	Hash        [32]byte // SHA-256 of a token's secret
	NotAfter    int64    // last moment that it is in force, kernel clock, Unix milliseconds; 0 for ever
	Description string
	Seq         uint64 // busSeq of its record
	At          int64  // kernel clock then, Unix milliseconds
	By          string // principal

	RevokedAt int64 // kernel clock, Unix milliseconds; 0 while it is not
	RevokedBy string
	Reason    string
}

// Over reports whether the credential will never be in force again.
func (c *Credential) Over(now int64) bool {
	return c.RevokedAt != 0 || c.NotAfter != 0 && now > c.NotAfter
}

// CertificatePrefix begins the id of a client certificate.
const CertificatePrefix = "cert:"

// Certificate reports whether the id is that of a client certificate.
func Certificate(id string) bool { return strings.HasPrefix(id, CertificatePrefix) }

// name and id order the tables.
type name string

// Compare orders names bytewise.
func (n name) Compare(other name) int { return strings.Compare(string(n), string(other)) }
