package mcptool

import (
	"maps"
	"slices"
	"sync"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/mcpclient"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// Options are a node's.
type Options struct {
	Servers        map[string]mcpclient.Server // by name, as the operator gave them
	Client         mcpclient.Options
	MaxResultBytes int // of a result's canonical form; 64 KiB if zero
}

const defaultResultBytes = 64 << 10

// Kind makes the tools of kind mcp (TO-14).
type Kind struct {
	servers   map[string]mcpclient.Server
	options   mcpclient.Options
	maxResult int

	mu    sync.Mutex         // guards links
	links map[string]*shared // by what servers are reached by
}

// shared is a connection, with the number of tools that use it.
type shared struct {
	client *mcpclient.Client
	key    string
	users  int
}

var _ tools.Kind = (*Kind)(nil)

// NewKind returns the kind `mcp`.
func NewKind(o Options) *Kind {
	k := &Kind{servers: make(map[string]mcpclient.Server, len(o.Servers)), options: o.Client, maxResult: o.MaxResultBytes, links: make(map[string]*shared)}
	for name, server := range o.Servers {
		server.Name = name
		k.servers[name] = server
	}
	if k.maxResult <= 0 {
		k.maxResult = defaultResultBytes
	}
	return k
}

// Name is what manifests call it.
func (k *Kind) Name() string { return "mcp" }

func (k *Kind) names() []string { return slices.Sorted(maps.Keys(k.servers)) }

// Check says what is wrong with a manifest's config.
func (k *Kind) Check(m *kerneltools.Manifest) *failure.Refusal {
	_, refusal := k.readConfig(m)
	return refusal
}

// Make makes the tool. It connects when it is first called.
func (k *Kind) Make(m *kerneltools.Manifest) (tools.Caller, error) {
	c, refusal := k.readConfig(m)
	if refusal != nil {
		return nil, errConfig
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := c.server.Key()
	link := k.links[key]
	if link == nil {
		link = &shared{client: mcpclient.New(c.server, k.options), key: key}
		k.links[key] = link
	}
	link.users++
	return &tool{kind: k, link: link, name: c.tool, idempotent: m.Idempotent, output: len(m.Output) > 0}, nil
}

// give lets go of a connection; with the last of its tools it ends.
func (k *Kind) give(link *shared) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if link.users--; link.users == 0 {
		delete(k.links, link.key)
		link.client.Close()
	}
}
