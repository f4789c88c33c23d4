package main

import (
	"path/filepath"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/program"
	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	"github.com/omnikernel/omnikernel/kernel/config"
)

// programs say which programs a node may run as tools, and how they are held, and
// hold the kind of tools that they are.
type programs struct {
	dir         string
	read, write []string
	level       string
	uid         int
	kind        *program.Kind // nil where no programs may be run
}

func (p *programs) add(flags *pflag.FlagSet) {
	flags.StringVar(&p.dir, "exec-dir", "", "directory of the programs that tools may run; none when empty")
	flags.StringVar(&p.level, "exec-sandbox", string(sandbox.Auto), "full gives each program namespaces of its own, and a node that cannot does not start; plain does without; auto takes what there is")
	flags.StringArrayVar(&p.read, "exec-read", nil, "directory that programs may read, beside their own and the system's; once for each")
	flags.StringArrayVar(&p.write, "exec-write", nil, "directory that programs may write to, beside one that goes with each call; once for each")
	flags.IntVar(&p.uid, "exec-uid", 65534, "user and group that programs run as, where the node runs as root")
}

// prepare makes the kind. It touches nothing before it is opened.
func (p *programs) prepare(dataDir string, logger hclog.Logger) {
	if p.dir == "" {
		return
	}
	p.kind = program.NewKind(program.Options{
		Sandbox: sandbox.Options{
			Level: sandbox.Level(p.level), Dir: filepath.Join(dataDir, "programs"), Programs: p.dir,
			Read: p.read, Write: p.write, UID: p.uid,
		},
		Secrets: secretFromEnvironment, MaxResultBytes: int(config.Default().MaxValueBytes), Logger: logger.Named("programs"),
	})
}

func (p *programs) kinds() []tools.Kind {
	if p.kind == nil {
		return nil
	}
	return []tools.Kind{p.kind}
}

func (p *programs) absent() map[string]string {
	if p.kind != nil {
		return nil
	}
	return map[string]string{"exec": "this node runs no programs: start every node with --exec-dir DIR, and put the program there"}
}

// open makes the sandbox, once the data directory is the node's own.
func (p *programs) open() error {
	if p.kind == nil {
		return nil
	}
	return p.kind.Open()
}

func (p *programs) close() error {
	if p.kind == nil {
		return nil
	}
	return p.kind.Close()
}
