package dev

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/transport/api"
)

// pollInterval is how often a node that is not ready is asked again.
const pollInterval = 25 * time.Millisecond

// maxAnswer bounds what is read of a node's answer.
const maxAnswer = 8 << 10

// ending is the first end of a node's process.
type ending struct {
	id  string
	err error
}

// awaitReady waits until every node says that it is ready. A process that ends
// before that ends the waiting: whatever is wrong will not get better. A node
// in safe mode is up and will not be ready; when so many are that the others
// cannot be either, nobody is waited for.
func (c *Cluster) awaitReady(ctx context.Context) error {
	asker := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	waiting := slices.Clone(c.children)
	held := 0
	for {
		var late *child
		var reason error
		for at := 0; at < len(waiting); {
			err := ready(ctx, asker, waiting[at].node.API)
			var safe *inSafeMode
			switch {
			case errors.As(err, &safe):
				held++
				c.say(waiting[at].node.ID + " is in safe mode: " + safe.Error())
			case err != nil:
				late, reason = waiting[at], err
				at++
				continue
			}
			waiting = slices.Delete(waiting, at, at+1)
		}
		if late == nil || held*2 >= len(c.children) {
			return nil
		}
		select {
		case <-time.After(pollInterval):
		case ended := <-c.endings:
			return c.notReady(ended.id, fmt.Sprintf("did not start: %v", ended.err))
		case <-ctx.Done():
			return c.notReady(late.node.ID, fmt.Sprintf("is not ready in time: %v", reason))
		}
	}
}

// inSafeMode is a node's answer that nothing but an operator changes.
type inSafeMode struct{ health api.Health }

func (e *inSafeMode) Error() string { return e.health.Reason + ": " + e.health.SafeMode.Hint }

// notReady says which node is to blame, with its own last words.
func (c *Cluster) notReady(id, what string) error {
	problem := &Problem{Rule: id + " " + what}
	if words := tail(c.LogPath(id)); words != "" {
		problem.Rule += "\n" + words
	}
	if !c.dir.temporary {
		problem.Hint = "its whole output is in " + c.LogPath(id)
	}
	return problem
}

// ready asks a node once.
func ready(ctx context.Context, asker *http.Client, base string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := asker.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return err
	}
	if response.StatusCode == http.StatusOK {
		return nil
	}
	var health api.Health
	if json.Unmarshal(body, &health) == nil && health.SafeMode != nil {
		return &inSafeMode{health}
	}
	return errors.New(string(body))
}
