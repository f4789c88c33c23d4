package principals

import "github.com/omnikernel/omnikernel/kernel/failure"

// Limits of the kernel version that has principals.
const (
	MaxPrincipals  = 10_000
	MaxRoles       = 1_000
	MaxCredentials = 20_000
	MaxTokens      = 64 // of one principal, without those that are over

	MaxRolesEach        = 32 // of one principal
	MaxGrants           = 256
	MaxNameBytes        = 63
	MaxDescriptionBytes = 256
)

// The kinds of principals: for people to read, and judged by nobody.
const (
	Person  = "person"
	Service = "service"
)

// The names that bootstrap makes. The role can do everything, always.
const (
	AdminRole      = "admin"
	AdminPrincipal = "admin"
)

// CheckName holds the rule of names of principals and roles. So none is
// "node:n1", and none has the "#" that parts it from a credential.
func CheckName(field, s string) *failure.Refusal {
	if s == "" || len(s) > MaxNameBytes || !plain(s) {
		return invalid(field, "must be 1 to 63 bytes of lower-case letters, digits, dots, underscores and dashes")
	}
	return nil
}

func plain(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// CheckToken holds the rule of tokens' ids.
func CheckToken(field, id string) *failure.Refusal {
	if len(id) < 8 || len(id) > 32 || !alphanumeric(id) {
		return invalid(field, "must be 8 to 32 lower-case letters and digits")
	}
	return nil
}

// CheckCertificate holds the rule of client certificates' ids.
func CheckCertificate(field, id string) *failure.Refusal {
	serial := id[min(len(CertificatePrefix), len(id)):]
	if !Certificate(id) || serial == "" || len(serial) > 40 || len(serial) > 1 && serial[0] == '0' || !alphanumeric(serial) {
		return invalid(field, "must be cert: and the certificate's serial number, in lower-case hexadecimal digits without leading zeros")
	}
	for i := range len(serial) {
		if serial[i] > 'f' {
			return invalid(field, "must be cert: and the certificate's serial number, in lower-case hexadecimal digits without leading zeros")
		}
	}
	return nil
}

func alphanumeric(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// CheckDescription holds the rule of descriptions and reasons.
func CheckDescription(field, s string) *failure.Refusal {
	if len(s) > MaxDescriptionBytes {
		return invalid(field, "must be at most 256 bytes of printable text")
	}
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r == 0xfffd {
			return invalid(field, "must be at most 256 bytes of printable text")
		}
	}
	return nil
}

func invalid(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}
