package httpapi

import (
	"encoding/hex"
	"net/http"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/principals"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// toRead is what reading about principals wants.
var toRead = flows.Access{Action: "auth.read", Resource: flows.Nothing}

// readFields decodes a body by a table of its fields.
func readFields(body value.Raw, known string, fields map[string]func(f field) *api.Error) *api.Error {
	return eachField(body, "", func(f field) *api.Error {
		read, ok := fields[f.key]
		if !ok {
			return f.unknown(known)
		}
		return read(f)
	})
}

func textInto(into *string) func(field) *api.Error {
	return func(f field) *api.Error { return f.text(into) }
}

func integerInto(into *int64) func(field) *api.Error {
	return func(f field) *api.Error { return f.integer(into) }
}

func versionInto(into **uint64) func(field) *api.Error {
	return func(f field) *api.Error { return f.version(into) }
}

// hashInto takes the SHA-256 of a secret.
func hashInto(into *[32]byte) func(field) *api.Error {
	return func(f field) *api.Error {
		var text string
		if e := f.text(&text); e != nil {
			return e
		}
		raw, err := hex.DecodeString(text)
		if err != nil || len(raw) != len(into) {
			return invalid(f.path(), "must be the SHA-256 of the token's secret, in 64 hexadecimal digits", "omni auth token create makes the token and sends this")
		}
		copy(into[:], raw)
		return nil
	}
}

func orDoor(r *failure.Refusal) *api.Error {
	if r == nil {
		return nil
	}
	return atDoor(r)
}

// hashed refuses a body without a hash: its token would have no secret.
func hashed(hash [32]byte) *api.Error {
	if hash == [32]byte{} {
		return invalid("hash", "must be given", "omni auth token create makes the token and sends this")
	}
	return nil
}

func (s *Server) makeBootstrap(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := new(event.BootstrapAuth)
	e := readFields(body, "credential, description, hash, not_after_ms", map[string]func(field) *api.Error{
		"credential": textInto(&c.Credential), "hash": hashInto(&c.Hash), "not_after_ms": integerInto(&c.NotAfterMillis), "description": textInto(&c.Description),
	})
	if e == nil {
		e = hashed(c.Hash)
	}
	if e == nil {
		e = orDoor(principals.CheckToken("credential", c.Credential))
	}
	return event.AuthBootstrap, c, e
}

func (s *Server) makePrincipal(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.PutPrincipal{Name: r.PathValue("name")}
	e := readFields(body, "description, disabled, kind, roles, version", map[string]func(field) *api.Error{
		"kind": textInto(&c.Kind), "description": textInto(&c.Description), "version": versionInto(&c.Version),
		"roles":    func(f field) *api.Error { return decodeNames(f, &c.Roles) },
		"disabled": func(f field) *api.Error { return f.flag(&c.Disabled) },
	})
	if e == nil {
		e = orDoor(flows.CheckPrincipal(c))
	}
	return event.PrincipalPut, c, e
}

func (s *Server) makeDeletePrincipal(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.DeletePrincipal{Name: r.PathValue("name")}
	e := readFields(body, "reason", map[string]func(field) *api.Error{"reason": textInto(&c.Reason)})
	return event.PrincipalDelete, c, e
}

func (s *Server) makeRole(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.PutRole{Name: r.PathValue("name")}
	e := readFields(body, "description, grants, version", map[string]func(field) *api.Error{
		"description": textInto(&c.Description), "version": versionInto(&c.Version),
		"grants": func(f field) *api.Error { return decodeGrants(f, &c.Grants) },
	})
	if e == nil {
		e = orDoor(flows.CheckRole(c))
	}
	return event.RolePut, c, e
}

func (s *Server) makeDeleteRole(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.DeleteRole{Name: r.PathValue("name")}
	e := readFields(body, "reason", map[string]func(field) *api.Error{"reason": textInto(&c.Reason)})
	return event.RoleDelete, c, e
}

func (s *Server) makeCredential(_ *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := new(event.PutCredential)
	e := readFields(body, "description, hash, id, not_after_ms, principal", map[string]func(field) *api.Error{
		"id": textInto(&c.ID), "principal": textInto(&c.Principal), "hash": hashInto(&c.Hash),
		"not_after_ms": integerInto(&c.NotAfterMillis), "description": textInto(&c.Description),
	})
	if e == nil {
		e = hashed(c.Hash)
	}
	if e == nil {
		e = orDoor(principals.CheckToken("id", c.ID))
	}
	return event.CredentialPut, c, e
}

func (s *Server) makeRevokeCredential(r *http.Request, body value.Raw) (event.Kind, any, *api.Error) {
	c := &event.RevokeCredential{ID: r.PathValue("credential")}
	e := readFields(body, "not_after_ms, reason", map[string]func(field) *api.Error{"reason": textInto(&c.Reason), "not_after_ms": integerInto(&c.NotAfterMillis)})
	if e == nil {
		e = orDoor(flows.CheckRevocation(c))
	}
	return event.CredentialRevoke, c, e
}
