package wire

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Host is a host on the switch.
type Host struct {
	ID     string
	MAC    [6]byte
	Frames io.ReadWriteCloser // one Ethernet frame a Read or Write; Close ends a Read under way
}

// Switch carries frames between hosts.
type Switch struct {
	ports    []*port
	byMAC    map[[6]byte]*port
	began    time.Time
	waiting  *waiting
	policies atomic.Pointer[table] // nil: no rules
	closing  atomic.Bool
	readers  sync.WaitGroup

	mu      sync.Mutex // guards what follows
	inForce []*Imposition
	broken  []error
}

// port is where a host is plugged in.
type port struct {
	id     string
	frames io.ReadWriteCloser
	links  []*link // to every other host
}

// maxFrame is longer than any frame of a network whose packets are at most 1,500
// bytes long.
const maxFrame = 2048

// New makes a switch of hosts with different ids and addresses, and begins. From
// then on their files are its own.
func New(seed uint64, hosts []Host) (*Switch, error) {
	s := &Switch{byMAC: make(map[[6]byte]*port, len(hosts)), began: time.Now()}
	for _, h := range hosts {
		if h.ID == "" || s.index(h.ID) >= 0 || s.byMAC[h.MAC] != nil || h.MAC[0]&1 != 0 {
			return nil, fmt.Errorf("host %q at %x: ids and addresses must differ, and an address must be one host's", h.ID, h.MAC)
		}
		p := &port{id: h.ID, frames: h.Frames}
		s.ports, s.byMAC[h.MAC] = append(s.ports, p), p
	}
	for i, from := range s.ports {
		for j, to := range s.ports {
			if i == j {
				continue
			}
			number := i*len(s.ports) + j
			l := &link{number: number, to: to, random: rand.New(rand.NewPCG(seed, uint64(number)))}
			from.links = append(from.links, l)
		}
	}
	s.waiting = newWaiting(s)
	for _, p := range s.ports {
		s.readers.Go(func() { s.read(p) })
	}
	return s, nil
}

// Err is what went wrong with a host's device, if anything did: from then on its
// frames are not carried, and nothing that is seen is worth anything.
func (s *Switch) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Join(s.broken...)
}

// Close ends the switch and closes the hosts' files. It also returns what Err does.
func (s *Switch) Close() error {
	if s.closing.Swap(true) {
		return nil
	}
	var errs []error
	for _, p := range s.ports {
		if err := p.frames.Close(); err != nil {
			errs = append(errs, fmt.Errorf("host %s: %w", p.id, err))
		}
	}
	s.readers.Wait()
	s.waiting.close()
	return errors.Join(append(errs, s.Err())...)
}

// read carries what a host sends.
func (s *Switch) read(p *port) {
	frame := make([]byte, maxFrame)
	for {
		n, err := p.frames.Read(frame)
		if err != nil {
			if !s.closing.Load() && !errors.Is(err, os.ErrClosed) {
				s.mu.Lock()
				s.broken = append(s.broken, fmt.Errorf("host %s: %w", p.id, err))
				s.mu.Unlock()
			}
			return
		}
		s.carry(p, frame[:n])
	}
}

// headerBytes of an Ethernet frame: to, from, kind.
const headerBytes = 14

func (s *Switch) carry(from *port, frame []byte) {
	if len(frame) < headerBytes {
		return
	}
	to := [6]byte(frame)
	if to[0]&1 != 0 { // to everybody
		for _, l := range from.links {
			s.send(l, frame)
		}
		return
	}
	if p := s.byMAC[to]; p != nil {
		for _, l := range from.links {
			if l.to == p {
				s.send(l, frame)
			}
		}
	}
}
