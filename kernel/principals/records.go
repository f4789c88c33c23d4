package principals

import (
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// BootstrappedBody is the body of AuthBootstrapped.
type BootstrappedBody struct {
	By string
}

// AppendTo writes the body's log form.
func (b *BootstrappedBody) AppendTo(dst []byte) []byte { return bus.AppendText(dst, b.By) }

// DecodeBootstrapped reads the body of AuthBootstrapped.
func DecodeBootstrapped(raw []byte) (*BootstrappedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &BootstrappedBody{By: d.Text()}
	return b, d.Done()
}

// RoleBody is the body of RolePut; the record's busSeq is the role's version.
type RoleBody struct {
	Name        string
	Description string
	Grants      []permissions.Grant
	By          string
}

// AppendTo writes the body's log form.
func (b *RoleBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(bus.AppendText(dst, b.Name), b.Description)
	dst = bus.AppendUint(dst, uint64(len(b.Grants)))
	for i := range b.Grants {
		g := &b.Grants[i]
		dst = append(dst, byte(g.Effect))
		dst = bus.AppendText(bus.AppendText(dst, g.Action), g.Resource)
		dst = bus.AppendInt(dst, g.NotAfterMillis)
	}
	return bus.AppendText(dst, b.By)
}

// DecodeRole reads the body of RolePut.
func DecodeRole(raw []byte) (*RoleBody, bool) {
	d := bus.NewDecoder(raw)
	b := &RoleBody{Name: d.Text(), Description: d.Text()}
	n := d.Uint()
	if n > d.Left() {
		return b, false
	}
	for range n {
		b.Grants = append(b.Grants, permissions.Grant{
			Effect: permissions.Effect(d.Byte()), Action: d.Text(), Resource: d.Text(), NotAfterMillis: d.Int(),
		})
	}
	b.By = d.Text()
	return b, d.Done()
}

// PrincipalBody is the body of PrincipalPut; the record's busSeq is the principal's
// version.
type PrincipalBody struct {
	Name        string
	Kind        string
	Description string
	Roles       []string
	Disabled    bool
	By          string
}

// AppendTo writes the body's log form.
func (b *PrincipalBody) AppendTo(dst []byte) []byte {
	dst = bus.AppendText(bus.AppendText(bus.AppendText(dst, b.Name), b.Kind), b.Description)
	dst = appendTexts(dst, b.Roles)
	return bus.AppendText(bus.AppendBool(dst, b.Disabled), b.By)
}

// DecodePrincipal reads the body of PrincipalPut.
func DecodePrincipal(raw []byte) (*PrincipalBody, bool) {
	d := bus.NewDecoder(raw)
	b := &PrincipalBody{Name: d.Text(), Kind: d.Text(), Description: d.Text()}
	roles, ok := readTexts(d)
	b.Roles, b.Disabled, b.By = roles, d.Bool(), d.Text()
	return b, ok && d.Done()
}

// DeletedBody is the body of RoleDeleted and PrincipalDeleted.
type DeletedBody struct {
	Name   string
	By     string
	Reason string
}

// AppendTo writes the body's log form.
func (b *DeletedBody) AppendTo(dst []byte) []byte {
	return bus.AppendText(bus.AppendText(bus.AppendText(dst, b.Name), b.By), b.Reason)
}

// DecodeDeleted reads the body of RoleDeleted or PrincipalDeleted.
func DecodeDeleted(raw []byte) (*DeletedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &DeletedBody{Name: d.Text(), By: d.Text(), Reason: d.Text()}
	return b, d.Done()
}

// CredentialBody is the body of CredentialPut.
type CredentialBody struct {
	ID          string
	Principal   string
	Hash        [32]byte // SHA-256 of the secret
	NotAfter    int64    // kernel clock, Unix milliseconds; 0 for ever
	Description string
	By          string
}

// AppendTo writes the body's log form.
func (b *CredentialBody) AppendTo(dst []byte) []byte {
	dst = append(bus.AppendText(bus.AppendText(dst, b.ID), b.Principal), b.Hash[:]...)
	return bus.AppendText(bus.AppendText(bus.AppendInt(dst, b.NotAfter), b.Description), b.By)
}

// DecodeCredential reads the body of CredentialPut.
func DecodeCredential(raw []byte) (*CredentialBody, bool) {
	d := bus.NewDecoder(raw)
	b := &CredentialBody{ID: d.Text(), Principal: d.Text()}
	d.Fixed(b.Hash[:])
	b.NotAfter, b.Description, b.By = d.Int(), d.Text(), d.Text()
	return b, d.Done()
}

// RevokedBody is the body of CredentialRevoked.
type RevokedBody struct {
	ID       string
	NotAfter int64 // of a certificate: when its revocation can be forgotten; 0 for never
	By       string
	Reason   string
}

// AppendTo writes the body's log form.
func (b *RevokedBody) AppendTo(dst []byte) []byte {
	return bus.AppendText(bus.AppendText(bus.AppendInt(bus.AppendText(dst, b.ID), b.NotAfter), b.By), b.Reason)
}

// DecodeRevoked reads the body of CredentialRevoked.
func DecodeRevoked(raw []byte) (*RevokedBody, bool) {
	d := bus.NewDecoder(raw)
	b := &RevokedBody{ID: d.Text(), NotAfter: d.Int(), By: d.Text(), Reason: d.Text()}
	return b, d.Done()
}

// ForgottenBody is the body of CredentialsForgotten: there was no room for them any
// more, and they were over.
type ForgottenBody struct {
	IDs []string
}

// AppendTo writes the body's log form.
func (b *ForgottenBody) AppendTo(dst []byte) []byte { return appendTexts(dst, b.IDs) }

// DecodeForgotten reads the body of CredentialsForgotten.
func DecodeForgotten(raw []byte) (*ForgottenBody, bool) {
	d := bus.NewDecoder(raw)
	ids, ok := readTexts(d)
	return &ForgottenBody{IDs: ids}, ok && d.Done()
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = bus.AppendUint(dst, uint64(len(texts)))
	for _, s := range texts {
		dst = bus.AppendText(dst, s)
	}
	return dst
}

func readTexts(d *bus.Decoder) (texts []string, ok bool) {
	n := d.Uint()
	if n > d.Left() {
		return nil, false
	}
	for range n {
		texts = append(texts, d.Text())
	}
	return texts, true
}
