package drill

import (
	"context"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// pollInterval is how often the cluster's status is asked for.
const pollInterval = 50 * time.Millisecond

// await asks for the cluster's status until it suits. why says of a status
// what is not yet as it should be; empty when all is.
func (d *drill) await(ctx context.Context, why func(api.Status) string) (api.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	reason := "nobody answered"
	for {
		status, err := d.client.Status(ctx, client.Timeout(3*time.Second))
		if err == nil {
			if reason = why(status); reason == "" {
				return status, nil
			}
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return status, fmt.Errorf("the cluster is not well after %v: %s", d.Timeout, reason)
		}
	}
}

// awaitWell waits until there is a leader and every node is healthy and close
// behind it.
func (d *drill) awaitWell(ctx context.Context) (api.Status, error) { return d.await(ctx, unwell) }

// closeBehind is how many entries a follower may be behind, under load, to be
// well.
const closeBehind = 1000

func unwell(s api.Status) string {
	leader, ok := nodeOf(s, s.Leader)
	if !ok || leader.Role != "leader" {
		return "there is no leader"
	}
	for _, n := range s.Nodes {
		switch {
		case !n.Healthy:
			return n.ID + " is not healthy: " + n.Reason
		case n.Term != leader.Term:
			return n.ID + " is in another term"
		case n.AppliedIndex+closeBehind < leader.AppliedIndex:
			return n.ID + " is behind"
		}
	}
	return ""
}

func nodeOf(s api.Status, id string) (api.NodeStatus, bool) {
	for _, n := range s.Nodes {
		if n.ID == id {
			return n, true
		}
	}
	return api.NodeStatus{}, false
}

// AwaitAlike waits until every node has applied the same and reports the same
// digest. alike is false, without waiting on, when two differ at one index.
func AwaitAlike(ctx context.Context, c *client.Client, limit time.Duration) (status api.Status, alike bool, err error) {
	d := &drill{Options: Options{Timeout: limit}, client: c}
	status, err = d.await(ctx, func(s api.Status) string {
		if differ(s) {
			return ""
		}
		if reason := unwell(s); reason != "" {
			return reason
		}
		for _, n := range s.Nodes {
			if n.AppliedIndex != s.Nodes[0].AppliedIndex {
				return n.ID + " has not applied the same as " + s.Nodes[0].ID
			}
		}
		return ""
	})
	return status, err == nil && !differ(status), err
}

// differ reports whether two nodes at one index have unlike digests.
func differ(s api.Status) bool {
	for i, a := range s.Nodes {
		for _, b := range s.Nodes[i+1:] {
			if a.Digest != "" && b.Digest != "" && a.AppliedIndex == b.AppliedIndex && a.Digest != b.Digest {
				return true
			}
		}
	}
	return false
}
