package main

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
)

// doorFlags are what a node's API lets in.
type doorFlags struct {
	mode, rate string
	burst      int
	hosts      []string
}

// door is what they come to.
type door struct {
	rate  callers.Rate
	hosts *httpapi.Hosts
}

func (f *doorFlags) add(flags *pflag.FlagSet) {
	usual := callers.DefaultRate
	flags.StringVar(&f.mode, "rate-limit", string(usual.Mode), "what becomes of a caller's requests beyond --rate: off (nobody counts), warn (served, and said in the node's log) or enforce (refused)")
	flags.StringVar(&f.rate, "rate", strconv.FormatFloat(usual.PerSecond, 'f', -1, 64)+"/s", "requests a second that one caller may send; each command of a batch is one")
	flags.IntVar(&f.burst, "burst", 0, "how many of them at once; 0 is two seconds' worth")
	flags.StringArrayVar(&f.hosts, "allowed-host", nil, "one more name that clients may call this node by, such as omni.example.org or *.example.org; beside those in --peer")
}

// door reads the flags of a node that listens at an address.
func (f *doorFlags) door(listen string, peers []cluster.Peer) (d door, err error) {
	d.rate = callers.Rate{Mode: callers.Mode(f.mode), Burst: f.burst}
	if d.rate.PerSecond, err = strconv.ParseFloat(strings.TrimSuffix(f.rate, "/s"), 64); err != nil || d.rate.PerSecond <= 0 {
		return d, fmt.Errorf("--rate %q: must be a number of requests a second above 0, such as 500/s", f.rate)
	}
	if err := d.rate.Check(); err != nil {
		return d, fmt.Errorf("--rate-limit, --rate, --burst: %w", err)
	}
	names := f.hosts
	for _, p := range peers {
		if at, err := url.Parse(p.API); err == nil && at.Hostname() != "" {
			names = append(names[:len(names):len(names)], at.Hostname())
		}
	}
	if d.hosts, err = httpapi.HostsAt(listen, names...); err != nil {
		return d, fmt.Errorf("--api-addr %s, --allowed-host: %w", listen, err)
	}
	return d, nil
}
