package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// awaiting is how long a status is waited for, and what for.
type awaiting struct {
	whole  bool
	voters int
}

const (
	wholeLook = 200 * time.Millisecond // between two looks at the cluster
	wholeAsk  = 5 * time.Second        // for one of them
	wholeSlow = time.Second            // one that took so long and was not answered says so
)

func (w *awaiting) add(flags *pflag.FlagSet) {
	flags.BoolVar(&w.whole, "wait", false, "wait, up to --timeout, until nothing is on its way: a node leads, all are healthy, who shall vote does, and the kernel version is the newest that all know; exit 1 when it does not come to that")
	flags.IntVar(&w.voters, "voters", 0, "with --wait: and until so many members vote")
}

func (w *awaiting) check(alone bool) error {
	switch {
	case w.voters != 0 && !w.whole:
		return tell.Usage("omni cluster status --wait --voters 5", "--voters goes with --wait")
	case w.voters < 0:
		return tell.Usage("", "--voters is %d, must be positive", w.voters)
	case alone && w.whole:
		return tell.Usage("leave one of them out", "--alone asks one node, and --wait waits for all")
	}
	return nil
}

// until asks until the cluster is whole, and gives its last status. Beside it is what
// was missing then.
func (w *awaiting) until(ctx context.Context, connection *client.Client, limit time.Duration, options []client.Option) (status api.Status, missing []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	known := false // the status is one
	for {
		began := time.Now()
		now, members, asked := w.look(ctx, connection, options)
		switch {
		case asked == nil:
			err = nil
			if status, known, missing = now, true, w.missing(&now, &members); len(missing) == 0 {
				return status, nil, nil
			}
		case ctx.Err() == nil && isFinal(asked):
			return status, nil, asked
		case ctx.Err() == nil || err == nil && (!known || time.Since(began) > wholeSlow): // the limit's end is nobody's failure
			err = asked
		}
		select {
		case <-time.After(wholeLook):
		case <-ctx.Done():
			if known && err != nil { // what was seen before says nothing of now
				return status, append(missing, "nobody answers any more: "+err.Error()), nil
			}
			if known {
				return status, missing, nil
			}
			return status, nil, err
		}
	}
}

func (w *awaiting) look(ctx context.Context, connection *client.Client, options []client.Option) (status api.Status, members api.Members, err error) {
	ctx, cancel := context.WithTimeout(ctx, wholeAsk)
	defer cancel()
	if status, err = connection.Status(ctx, options...); err == nil {
		members, err = connection.Members(ctx, options...)
	}
	return status, members, err
}

// missing says what keeps the cluster from being whole.
func (w *awaiting) missing(status *api.Status, members *api.Members) (missing []string) {
	note := func(format string, args ...any) { missing = append(missing, fmt.Sprintf(format, args...)) }
	if status.Leader == "" {
		note("no node leads")
	}
	all := ^uint32(0) // what every node knows
	for _, n := range status.Nodes {
		all = min(all, max(n.KnowsVersion, 1))
		if !n.Healthy {
			note("%s: %s", n.ID, n.Reason)
		}
	}
	if len(missing) == 0 && status.KernelVersion < all {
		note("the kernel version is %d, and every node knows %d", status.KernelVersion, all)
	}
	for _, m := range members.Members {
		if !m.Voter && !m.Learner {
			note("%s does not vote yet%s", m.ID, after(": ", m.Reason))
		}
	}
	if members.Voters < w.voters {
		note("%d of %d vote", members.Voters, w.voters)
	} else if w.voters != 0 && members.Voters > w.voters {
		note("%d vote, not %d", members.Voters, w.voters)
	}
	return missing
}

// after is a text behind another one, if there is any.
func after(mark, text string) string {
	if text == "" {
		return ""
	}
	return mark + text
}

// notWhole is the failure of a wait.
func notWhole(limit time.Duration, missing []string) error {
	return tell.NotHeld("the cluster is not whole after %v: %s", limit, strings.Join(missing, "; "))
}
