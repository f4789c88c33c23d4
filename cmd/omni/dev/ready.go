package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// pollInterval is how often a node that is not ready is asked again.
const pollInterval = 25 * time.Millisecond

// ending is the first end of a node's process.
type ending struct {
	id  string
	err error
}

// awaitReady waits until every node says that it is ready. A process that ends
// before that ends the waiting: whatever is wrong will not get better.
func (c *Cluster) awaitReady(ctx context.Context) error {
	asker := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, child := range c.children {
		for {
			err := ready(ctx, asker, child.node.API)
			if err == nil {
				break
			}
			select {
			case <-time.After(pollInterval):
			case ended := <-c.endings:
				return c.notReady(ended.id, fmt.Sprintf("did not start: %v", ended.err))
			case <-ctx.Done():
				return c.notReady(child.node.ID, fmt.Sprintf("is not ready in time: %v", err))
			}
		}
	}
	return nil
}

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
	body, err := io.ReadAll(io.LimitReader(response.Body, 512))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return errors.New(string(body))
	}
	return nil
}
