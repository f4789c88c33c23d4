package bench

import (
	"time"

	"github.com/omnikernel/omnikernel/transport/client"
)

// Options of a benchmark.
type Options struct {
	Client   *client.Client
	Clients  int           // that ask at the same time
	Duration time.Duration // measured
	Warmup   time.Duration // before that, not measured
	Rate     float64       // operations per second; 0 is a closed loop

	Kind        Kind     // Commands
	ValueBytes  int      // Commands: payload of each
	Batch       int      // Commands: of one request; 0 is the ordinary endpoint
	Steps       int      // Steps, Tools: tool calls of one instruction
	Consistency string   // Reads
	Adapters    []string // Tools: kinds of AdapterKinds
	Program     string   // Tools: for exec, a file of the nodes' directory of programs, which gives its input back
}
