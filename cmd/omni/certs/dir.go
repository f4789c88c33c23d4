package certs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/transport/identity"
	"github.com/omnikernel/omnikernel/transport/identity/authority"
)

// Names of files in a directory.
const (
	caFile     = "ca.pem"
	caKeyFile  = "ca-key.pem"
	oldKeyFile = "ca-key.old.pem"
	newKeyFile = "ca-key.new.pem"
)

// Problem is why something cannot be done with a directory, and what to do.
type Problem struct{ Rule, Hint string }

// Error implements error.
func (p *Problem) Error() string { return p.Rule }

func problem(hint, format string, args ...any) *Problem {
	return &Problem{fmt.Sprintf(format, args...), hint}
}

// Dir is a directory of certificates.
type Dir struct {
	Path string
	Now  func() time.Time
}

// Made is what was written.
type Made struct {
	Cluster     string      `json:"cluster"`
	Files       []string    `json:"files"` // what was written, keys too
	Certificate Certificate `json:"certificate"`
	Next        []string    `json:"next"` // what to do now
}

func (d Dir) file(name string) string { return filepath.Join(d.Path, name) }

// Init makes the authority of a cluster. With force it replaces one, and nothing that it
// signed is worth anything any more.
func (d Dir) Init(cluster string, life time.Duration, force bool) (Made, error) {
	a, err := authority.New(cluster, life, d.Now())
	if err != nil {
		return Made{}, problem("--cluster ID, as omni server has it", "%v", err)
	}
	key, err := a.KeyPEM()
	if err != nil {
		return Made{}, err
	}
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return Made{}, err
	}
	files, err := d.write(force, "--force makes another authority: everything that this one signed must be issued anew",
		part{caKeyFile, key, 0o600}, part{caFile, a.CertPEM(), 0o644})
	if err != nil {
		return Made{}, err
	}
	return Made{
		Cluster: cluster, Files: files, Certificate: describe(a.Cert, d.Now()),
		Next: []string{"omni tls issue node n1 --host ADDRESS" + d.flag() + ", once for each node"},
	}, nil
}

// flag is --dir, where it is needed to find this directory again.
func (d Dir) flag() string {
	if d.Path == DefaultPath {
		return ""
	}
	return " --dir " + d.Path
}

// DefaultPath is where the commands look unless told otherwise.
const DefaultPath = "tls"

// authority reads the authority that signs, and all that are trusted.
func (d Dir) authority() (*authority.Authority, []byte, error) {
	certs, err := os.ReadFile(d.file(caFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, problem("omni tls init"+d.flag()+" makes one, or name the directory with --dir", "%s: there is no authority", d.file(caFile))
	}
	if err != nil {
		return nil, nil, err
	}
	key, err := os.ReadFile(d.file(caKeyFile))
	if err != nil {
		return nil, nil, problem("the key of the authority is where omni tls init was run; it is not on the nodes", "%v", err)
	}
	a, err := authority.Read(certs, key)
	if err != nil {
		return nil, nil, problem("omni tls inspect "+d.file(caFile), "%s and %s: %v", d.file(caFile), d.file(caKeyFile), err)
	}
	return a, certs, nil
}

// Request is a certificate that is asked for.
type Request struct {
	Kind  identity.Kind
	Name  string
	Hosts []string // none: those of the certificate that is replaced
	Life  time.Duration
	Force bool // replace the one that is there
}

// Issue signs a certificate for a node or a principal.
func (d Dir) Issue(r Request) (Made, error) {
	a, _, err := d.authority()
	if err != nil {
		return Made{}, err
	}
	base := string(r.Kind) + "-" + r.Name
	if r.Force && len(r.Hosts) == 0 {
		r.Hosts = d.hostsOf(base + ".pem")
	}
	issued, err := a.Issue(authority.Request{Kind: r.Kind, Name: r.Name, Hosts: r.Hosts, Life: r.Life, Now: d.Now()})
	if err != nil {
		return Made{}, problem("omni tls issue --help", "%v", err)
	}
	files, err := d.write(r.Force, "--force issues another one in its place, for the same hosts",
		part{base + "-key.pem", issued.KeyPEM, 0o600}, part{base + ".pem", issued.CertPEM, 0o644})
	if err != nil {
		return Made{}, err
	}
	made := Made{Cluster: a.Cluster, Files: files, Certificate: describe(issued.Cert, d.Now())}
	made.Next = d.useOf(r, files)
	return made, nil
}

// useOf says where the files go.
func (d Dir) useOf(r Request, files []string) []string {
	key, cert, ca := files[0], files[1], d.file(caFile)
	if r.Kind == identity.Principal {
		return []string{"omni --ca-cert " + ca + " --cert " + cert + " --key " + key + " cluster status"}
	}
	return []string{"omni server --node " + r.Name + " --tls-ca " + ca + " --tls-cert " + cert + " --tls-key " + key + " …, with these three files on its machine"}
}

// hostsOf are the hosts of a certificate that is there, beside those that every node
// has.
func (d Dir) hostsOf(name string) (hosts []string) {
	raw, err := os.ReadFile(d.file(name))
	if err != nil {
		return nil
	}
	certs, err := identity.Certificates(raw)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(hostsIn(certs[0]), func(host string) bool { return slices.Contains(authority.Loopback, host) })
}

// part is a file to be written.
type part struct {
	name string
	raw  []byte
	mode os.FileMode
}

// write writes files, each whole or not at all, and refuses to replace any unless it may.
func (d Dir) write(replace bool, hint string, parts ...part) (files []string, err error) {
	for _, p := range parts {
		path := d.file(p.name)
		if _, err := os.Lstat(path); err == nil && !replace {
			return nil, problem(hint, "%s is there already", path)
		}
		files = append(files, path)
	}
	for i, p := range parts {
		if err := put(files[i], p.raw, p.mode); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// put replaces a file in one step.
func put(path string, raw []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+strings.TrimSuffix(filepath.Base(path), ".pem")+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
