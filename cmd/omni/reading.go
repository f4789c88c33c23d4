package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// reading is how a read wants to be answered (CL-4).
type reading struct {
	consistency string
	minIndex    uint64
	maxLag      time.Duration
	node        string
}

func (r *reading) addFlags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&r.consistency, "consistency", api.Linearizable,
		"linearizable (as of now), session (at least --min-index) or stale (at once)")
	flags.Uint64Var(&r.minIndex, "min-index", 0, "wait until the node has applied this Raft index")
	flags.DurationVar(&r.maxLag, "max-lag", 0, "with stale: how far behind the leader the node may be, such as 200ms")
	flags.StringVar(&r.node, "node", "", "ask this node only, by id or address")
}

// options of the call. What makes no sense together is a usage error; a wrong
// word is the server's to refuse.
func (r *reading) options(c *cobra.Command) ([]client.Option, error) {
	options := []client.Option{client.Consistency(r.consistency)}
	if r.minIndex > 0 {
		options = append(options, client.MinIndex(r.minIndex))
	}
	if c.Flags().Changed("max-lag") {
		if r.consistency != api.Stale {
			return nil, tell.Usage("add --consistency stale", "--max-lag bounds stale reads only")
		}
		if r.maxLag < time.Millisecond {
			return nil, tell.Usage("for example --max-lag 200ms", "--max-lag is %v, must be at least 1ms", r.maxLag)
		}
		options = append(options, client.MaxLag(r.maxLag))
	}
	if r.node != "" {
		options = append(options, client.Node(r.node))
	}
	return options, nil
}
