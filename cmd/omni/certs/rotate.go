package certs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/transport/identity"
	"github.com/omnikernel/omnikernel/transport/identity/authority"
)

// Rotate makes another authority, which signs from now on, and keeps trusting the one
// before: ca.pem holds both.
func (d Dir) Rotate(life time.Duration) (Made, error) {
	old, trusted, err := d.authority()
	if err != nil {
		return Made{}, err
	}
	all, err := identity.Certificates(trusted)
	if err != nil {
		return Made{}, err
	}
	if len(all) > 1 {
		return Made{}, problem("omni tls rotate --finish"+d.flag()+", when every certificate was issued anew",
			"%s holds %d authorities: the rotation before this one is not finished", d.file(caFile), len(all))
	}
	fresh, err := authority.New(old.Cluster, life, d.Now())
	if err != nil {
		return Made{}, err
	}
	key, err := fresh.KeyPEM()
	if err != nil {
		return Made{}, err
	}
	// The key is on disk before anybody may trust it, and the one before is never gone.
	for _, p := range []part{{newKeyFile, key, 0o600}, {caFile, append(fresh.CertPEM(), old.CertPEM()...), 0o644}} {
		if err := put(d.file(p.name), p.raw, p.mode); err != nil {
			return Made{}, err
		}
	}
	for _, move := range [][2]string{{caKeyFile, oldKeyFile}, {newKeyFile, caKeyFile}} {
		if err := os.Rename(d.file(move[0]), d.file(move[1])); err != nil {
			return Made{}, err
		}
	}
	return Made{
		Cluster: old.Cluster, Files: []string{d.file(caFile), d.file(caKeyFile), d.file(oldKeyFile)}, Certificate: describe(fresh.Cert, d.Now()),
		Next: []string{
			"put " + d.file(caFile) + ", which holds both authorities, in place on every node and at every client, and wait until all have taken it up",
			"issue every certificate anew, one node after the other: omni tls issue node ID --force" + d.flag() + ", and the principals'",
			"omni tls rotate --finish" + d.flag(),
			"put " + d.file(caFile) + " in place everywhere again",
		},
	}, nil
}

// Finish forgets every authority but the one that signs. It refuses while a
// certificate in the directory is still another one's, unless force.
func (d Dir) Finish(force bool) (Made, error) {
	now, trusted, err := d.authority()
	if err != nil {
		return Made{}, err
	}
	all, err := identity.Certificates(trusted)
	if err != nil {
		return Made{}, err
	}
	if len(all) < 2 {
		return Made{}, problem("omni tls rotate"+d.flag()+" begins one", "no rotation is under way: %s holds one authority", d.file(caFile))
	}
	if left := d.leftBehind(now); len(left) > 0 && !force {
		return Made{}, problem("issue it anew with omni tls issue … --force, or remove the file; --force leaves it without an authority",
			"%s is still signed by the authority that would be forgotten", strings.Join(left, ", "))
	}
	if err := put(d.file(caFile), now.CertPEM(), 0o644); err != nil {
		return Made{}, err
	}
	made := Made{
		Cluster: now.Cluster, Files: []string{d.file(caFile)}, Certificate: describe(now.Cert, d.Now()),
		Next: []string{"put " + d.file(caFile) + " in place on every node and at every client"},
	}
	if _, err := os.Stat(d.file(oldKeyFile)); !errors.Is(err, fs.ErrNotExist) {
		made.Next = append(made.Next, "destroy "+d.file(oldKeyFile)+": it signs nothing that anybody trusts")
	}
	return made, nil
}

// leftBehind are the certificates in the directory that an authority did not sign.
func (d Dir) leftBehind(by *authority.Authority) (files []string) {
	for _, pattern := range []string{"node-*.pem", "principal-*.pem"} {
		found, _ := filepath.Glob(d.file(pattern)) // the patterns are well formed
		for _, path := range found {
			raw, err := os.ReadFile(path)
			if err != nil {
				continue
			}
			if certs, err := identity.Certificates(raw); err == nil && certs[0].CheckSignatureFrom(by.Cert) != nil {
				files = append(files, path)
			}
		}
	}
	return files
}
