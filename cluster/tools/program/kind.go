package program

import (
	"errors"
	"fmt"
	"sync"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// Options configure the programs of one node.
type Options struct {
	Sandbox sandbox.Options
	// Secrets resolves `secret:NAME` in the environment of programs (TO-7). For
	// is "exec:" and the program's name, so that a secret can be bound to its
	// receiver. Nil knows no secret.
	Secrets func(name, receiver string) (string, bool)
	// MaxResultBytes bounds what a program writes; 64 KiB if zero.
	MaxResultBytes int
	Logger         hclog.Logger
}

const defaultResultBytes = 64 << 10

// Kind makes registered tools that are one program each.
type Kind struct {
	options Options

	mu  sync.Mutex // guards box
	box *sandbox.Sandbox
}

var _ tools.Kind = (*Kind)(nil)

var errConfig = errors.New("the manifest's config is not one of kind exec")

// NewKind returns the kind `exec`. It starts nothing before it is opened.
func NewKind(options Options) *Kind {
	if options.MaxResultBytes <= 0 {
		options.MaxResultBytes = defaultResultBytes
	}
	if options.Logger == nil {
		options.Logger = hclog.NewNullLogger()
	}
	return &Kind{options: options}
}

// Open makes the sandbox, and says what it is. It may be called again.
func (k *Kind) Open() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.box != nil {
		return nil
	}
	box, err := sandbox.Open(k.options.Sandbox)
	if err != nil {
		return fmt.Errorf("programs: %w", err)
	}
	k.box = box
	if why := box.Why(); why != nil {
		k.options.Logger.Warn("programs run without namespaces of their own: they see this machine's files, processes and network as far as their user may",
			"reason", why, "hint", "--exec-sandbox full refuses to start so")
		return nil
	}
	k.options.Logger.Info("programs run in a sandbox", "level", box.Level(), "dir", k.options.Sandbox.Programs)
	return nil
}

// Close removes the node's directory of programs at work.
func (k *Kind) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.box == nil {
		return nil
	}
	box := k.box
	k.box = nil
	return box.Close()
}

func (k *Kind) sandbox() *sandbox.Sandbox {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.box
}

// Name is what manifests call it.
func (k *Kind) Name() string { return "exec" }

// Check says what is wrong with a manifest's config, also that this node does not have
// the program: the others must have it too, by the time that they lead.
func (k *Kind) Check(m *kerneltools.Manifest) *failure.Refusal {
	c, refusal := readConfig(m)
	if refusal != nil {
		return refusal
	}
	if err := sandbox.Find(k.options.Sandbox.Programs, c.program); err != nil {
		refusal = wrong("config.program", err.Error())
		refusal.Hint = "put it into the directory that omni server --exec-dir names, on every node"
	}
	return refusal
}

// Make makes the tool. It holds nothing of its own.
func (k *Kind) Make(m *kerneltools.Manifest) (tools.Caller, error) {
	c, refusal := readConfig(m)
	if refusal != nil {
		return nil, errConfig
	}
	return &tool{kind: k, config: c}, nil
}
