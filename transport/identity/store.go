package identity

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Options of Open.
type Options struct {
	Files   Files
	Cluster string // whose node shows the certificate
	Node    string // and which one
	Logger  hclog.Logger
	Now     func() time.Time // the machine's clock when nil
}

// Store keeps what a node shows to others and trusts. New files take effect with the
// next handshake; wrong ones are refused, and the old ones stay in use.
type Store struct {
	options Options
	current atomic.Pointer[credentials]

	mu      sync.Mutex // guards what follows
	refused error      // why the files as they are now are not in use
	bad     [sha256.Size]byte
}

// Open reads the files. They must fit together, be valid now, and be this node's.
func Open(o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{options: o}
	fresh, err := s.load()
	if err != nil {
		return nil, err
	}
	s.current.Store(fresh)
	s.tellOpen()
	return s, nil
}

func (s *Store) tellOpen() {
	if info, err := os.Stat(s.options.Files.Key); err == nil && info.Mode().Perm()&0o007 != 0 {
		s.options.Logger.Warn("the key can be read by everybody on this machine", "file", s.options.Files.Key, "hint", "chmod 600 "+s.options.Files.Key)
	}
}

// load reads the files and holds them to the node.
func (s *Store) load() (*credentials, error) {
	read, err := s.options.Files.read()
	if err != nil {
		return nil, err
	}
	return s.fit(read)
}

func (s *Store) fit(read contents) (*credentials, error) {
	fresh, err := s.options.Files.parse(read, s.options.Now())
	if err != nil {
		return nil, err
	}
	if _, err := s.nodeOf(fresh.leaf, s.options.Node); err != nil {
		return nil, fmt.Errorf("%s: %w", s.options.Files.Cert, err)
	}
	return fresh, nil
}

// nodeOf is the node of this cluster that a certificate speaks of; want, when that
// is known.
func (s *Store) nodeOf(cert *x509.Certificate, want string) (string, error) {
	who, err := Of(cert)
	switch {
	case err != nil:
		return "", err
	case who.Cluster != s.options.Cluster:
		return "", &Distrust{Reason: WrongCluster, Cert: cert, Want: s.options.Cluster}
	case who.Kind != Node:
		return "", &Distrust{Reason: NotANode, Cert: cert}
	case want != "" && who.Name != want:
		return "", &Distrust{Reason: WrongNode, Cert: cert, Want: want}
	}
	return who.Name, nil
}

// Reload looks for new files now. fresh tells that there were some; the error, which
// is also logged, why they are not in use.
func (s *Store) Reload() (fresh bool, err error) { return s.reload(true) }

// reload looks for new files. What does not fit is told at once, or when it was the
// same the last time: files are replaced one after the other.
func (s *Store) reload(atOnce bool) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read, err := s.options.Files.read()
	var next *credentials
	if err == nil {
		if read.sum() == s.current.Load().from {
			s.refused, s.bad = nil, [sha256.Size]byte{}
			return false, nil
		}
		next, err = s.fit(read)
	}
	if err != nil {
		return false, s.refuse(err, atOnce)
	}
	s.refused, s.bad = nil, [sha256.Size]byte{}
	s.current.Store(next)
	s.options.Logger.Info("new certificate in use", "serial", Serial(next.leaf), "until", next.leaf.NotAfter.UTC(),
		"signed_by", next.leaf.Issuer.CommonName, "authorities", len(next.authorities))
	return true, nil
}

// refuse notes why the files that are there are not in use, and tells it once.
// Called with mu held.
func (s *Store) refuse(err error, atOnce bool) error {
	sum := sha256.Sum256([]byte(err.Error()))
	again, told := sum == s.bad, s.refused != nil && s.refused.Error() == err.Error()
	s.bad = sum
	if !again && !atOnce {
		return err
	}
	s.refused = err
	if !told {
		var d *Distrust
		hint := "put the old files back, or right ones; they are looked at again by themselves"
		if errors.As(err, &d) {
			hint = d.Hint()
		}
		s.options.Logger.Error("new certificate refused: the old one stays in use", "error", err, "until", s.current.Load().leaf.NotAfter.UTC(), "hint", hint)
	}
	return err
}

// lookEvery is how often Watch looks for new files.
const lookEvery = 2 * time.Second

// Watch looks for new files every other second, and at once when somebody asks,
// until the context ends.
func (s *Store) Watch(ctx context.Context, asked <-chan os.Signal) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	warned := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-asked:
			if fresh, err := s.Reload(); err == nil && !fresh {
				s.options.Logger.Info("asked for new certificates: the files are those in use")
			}
		case <-tick.C:
			_, _ = s.reload(false) // told where it is found
		}
		warned = s.warn(warned)
	}
}

// warnBefore is how long before the end of a certificate the log says so, at most
// a third of its life.
const warnBefore = 30 * 24 * time.Hour

// warn tells once per certificate and day that it ends soon.
func (s *Store) warn(told string) string {
	now, leaf := s.options.Now(), s.current.Load().leaf
	left := leaf.NotAfter.Sub(now)
	if left > SoonBefore(leaf) {
		return told
	}
	state := Serial(leaf) + now.UTC().Format(time.DateOnly)
	if left <= 0 {
		state += " over"
	}
	if state == told {
		return told
	}
	s.options.Logger.Warn("this node's certificate ends soon", "serial", Serial(leaf), "until", leaf.NotAfter.UTC(),
		"left", left.Round(time.Minute), "hint", "omni tls issue node "+s.options.Node+" --force, then put the files in place")
	return state
}

// SoonBefore is how long before its end a certificate is said to end soon: 30 days,
// or a third of a shorter life.
func SoonBefore(cert *x509.Certificate) time.Duration {
	return min(warnBefore, cert.NotAfter.Sub(cert.NotBefore)/3)
}

// Expiry is when one certificate of a node ends.
type Expiry struct {
	Role     string // "node", or "authority"
	Name     string // whom it speaks of, or what it calls itself
	Serial   string
	NotAfter time.Time
}

// State is what a Store has in use.
type State struct {
	Certificates []Expiry // the node's own, then the authorities
	Since        time.Time
	Refused      string // why the files that are there now are not in use; "" when they are
}

// State tells what is in use, for people and for metrics.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.current.Load()
	own, _ := Of(c.leaf) // it had one when it was taken
	out := State{Since: c.since, Certificates: []Expiry{{"node", own.String(), own.Serial, c.leaf.NotAfter}}}
	for _, a := range c.authorities {
		out.Certificates = append(out.Certificates, Expiry{"authority", a.Subject.CommonName, Serial(a), a.NotAfter})
	}
	if s.refused != nil {
		out.Refused = s.refused.Error()
	}
	return out
}

// now is the clock that certificates are held to.
func (s *Store) now() time.Time { return s.options.Now() }

// base is what every configuration has: nothing older than TLS 1.3, and no tickets,
// by which a connection would live on what was believed before a change.
func (s *Store) base(c *credentials) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true, Time: s.options.Now,
		Certificates: []tls.Certificate{c.pair},
	}
}

// Files are those that it looks at.
func (s *Store) Files() Files { return s.options.Files }
