package client

import (
	"net/url"
	"strings"
	"sync"
)

// server is one node's API.
type server struct {
	name string // base URL as it is compared and shown
	base url.URL
}

// parse reads an address. Without a scheme it is spoken to as the client does by itself.
func (s *servers) parse(address string) (*server, bool) {
	if !strings.Contains(address, "://") {
		address = s.scheme + "://" + address
	}
	base, err := url.Parse(strings.TrimRight(address, "/"))
	if err != nil || base.Host == "" || (base.Scheme != "http" && base.Scheme != "https") ||
		base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return nil, false
	}
	return &server{name: base.String(), base: *base}, true
}

// maxServers bounds what is learnt: a cluster has few nodes.
const maxServers = 64

// servers is what a client and its forks know of the cluster.
type servers struct {
	mu     sync.Mutex // guards what follows
	known  []*server
	byNode map[string]*server
	leader *server // nil while none is known
	cursor int     // of the next one to ask when no leader is known

	scheme  string // of addresses that have none
	secured bool   // all that were given are https: a node that names an http address is not followed
}

func newServers(addresses []string, secured bool) (*servers, *Usage) {
	s := &servers{byNode: make(map[string]*server), scheme: "http", secured: true}
	if secured {
		s.scheme = "https"
	}
	for _, address := range addresses {
		found, ok := s.parse(strings.TrimSpace(address))
		if !ok {
			return nil, &Usage{"server " + address + ": must be host:port or an http URL"}
		}
		s.secured = s.secured && found.base.Scheme == "https"
		s.add(found)
	}
	if len(s.known) == 0 {
		return nil, &Usage{"no server is given"}
	}
	return s, nil
}

// add returns the server that is known by this name. Called with mu held, or
// before there is anybody else.
func (s *servers) add(found *server) *server {
	for _, have := range s.known {
		if have.name == found.name {
			return have
		}
	}
	if len(s.known) < maxServers {
		s.known = append(s.known, found)
	}
	return found
}

// names lists the servers for people.
func (s *servers) names() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.known))
	for _, have := range s.known {
		names = append(names, have.name)
	}
	return names
}

func (s *servers) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known)
}

// first is whom to ask: the leader, when one is known and wanted.
func (s *servers) first(wantLeader bool) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wantLeader && s.leader != nil {
		return s.leader
	}
	found := s.known[s.cursor%len(s.known)]
	if !wantLeader {
		s.cursor++ // reads are spread
	}
	return found
}

// after is whom to ask when one has been of no help.
func (s *servers) after(failed *server) *server {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leader == failed {
		s.leader = nil
	}
	for i, have := range s.known {
		if have == failed {
			s.cursor = i + 1
		}
	}
	return s.known[s.cursor%len(s.known)]
}

// learnt reads an address that a node names. Whoever began with TLS is not led away from
// it, with whatever the requests carry.
func (s *servers) learnt(address string) (*server, bool) {
	found, ok := s.parse(address)
	if !ok || s.secured && found.base.Scheme != "https" {
		return nil, false
	}
	return found, true
}

// leads notes who answered a command, or whom a node named. It returns nil for
// an address that makes no sense.
func (s *servers) leads(address string) *server {
	found, ok := s.learnt(address)
	if !ok {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader = s.add(found)
	return s.leader
}

// answered notes that a server answered as the leader does; nil that nobody is
// known to.
func (s *servers) answered(by *server) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leader = by
}

// learn notes where a node is.
func (s *servers) learn(node, address string) {
	found, ok := s.learnt(address)
	if !ok || node == "" {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byNode) < maxServers {
		s.byNode[node] = s.add(found)
	}
}

func (s *servers) node(id string) (*server, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.byNode[id]
	return found, ok
}

// nodeIDs lists the nodes that are known by id.
func (s *servers) nodeIDs() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]string, 0, len(s.byNode))
	for id := range s.byNode {
		ids = append(ids, id)
	}
	return ids
}
