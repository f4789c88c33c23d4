package dev

import (
	"fmt"
	"os"
	"time"
)

// Options of a cluster. The zero value is three nodes in a temporary directory
// on free ports.
type Options struct {
	Nodes       int      // 1 to MaxNodes; 0 is what the directory holds, else 3
	DataDir     string   // made if missing; "" is a temporary one, removed by Stop
	APIPort     int      // the nodes' APIs get this port and the ones after it; 0 is any free ones
	KernelID    string   // "default" if empty
	ServerFlags []string // more flags for every `omni server`
	Token       string   // for what is asked of the nodes; that of TokenFileName if empty

	Binary       string        // what to run; this program if empty
	RestartDelay time.Duration // before a child that ended is started again; 2 s if zero
	StartTimeout time.Duration // until every node is ready; 30 s if zero
	StopTimeout  time.Duration // until a child that was asked to stop is killed; 10 s if zero

	// Talk is told, in sentences, what happens to the children. It may be nil
	// and is called by one goroutine at a time.
	Talk func(string)
}

// MaxNodes bounds a cluster on one machine.
const MaxNodes = 9

const defaultNodes = 3

// Check says what is wrong with the numbers, before anything is touched.
func (o Options) Check() *Problem {
	if o.Nodes < 0 || o.Nodes > MaxNodes {
		return &Problem{Rule: fmt.Sprintf("nodes is %d, must be 1 to %d", o.Nodes, MaxNodes)}
	}
	nodes := o.Nodes
	if nodes == 0 {
		nodes = defaultNodes
	}
	if o.APIPort < 0 || o.APIPort+nodes-1 > maxPort {
		return &Problem{Rule: fmt.Sprintf("api port is %d, must be 0 to %d and leave room for every node", o.APIPort, maxPort)}
	}
	return nil
}

func (o Options) withDefaults() (Options, error) {
	if problem := o.Check(); problem != nil {
		return o, problem
	}
	if o.KernelID == "" {
		o.KernelID = "default"
	}
	if o.Binary == "" {
		self, err := os.Executable()
		if err != nil {
			return o, fmt.Errorf("find this program: %w", err)
		}
		o.Binary = self
	}
	o.RestartDelay = orElse(o.RestartDelay, 2*time.Second)
	o.StartTimeout = orElse(o.StartTimeout, 30*time.Second)
	o.StopTimeout = orElse(o.StopTimeout, 10*time.Second)
	if o.Talk == nil {
		o.Talk = func(string) {}
	}
	return o, nil
}

func orElse(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
