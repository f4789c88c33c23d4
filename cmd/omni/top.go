package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/cmd/omni/top"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newTopCommand(a *app) *cobra.Command {
	every, once := 2*time.Second, false
	c := &cobra.Command{
		Use:   "top",
		Short: "A live view: nodes, throughput, agents by state, what waits",
		Long: `Shows the cluster in place, again and again: who leads, each node's role, health and
lag, events and calls a second, agents by state, what waits, and what takes longest.
It asks for the status and for each node's metrics. q or Ctrl-C ends it.

Piped, or with -o json, each look is written out, one after the other.`,
		Example: `  omni top
  omni top --once
  omni top -o json | jq .events_per_s`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if every < minEvery {
				return tell.Usage("", "--every is %v, must be at least %v", every, minEvery)
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			w := &watcher{app: a, connection: connection, every: every, once: once}
			return w.run(c.Context())
		},
	}
	c.Flags().DurationVar(&every, "every", every, "between two looks; rates are over that time")
	c.Flags().BoolVar(&once, "once", false, "write one look out, after two, and end")
	return c
}

const (
	minEvery    = 200 * time.Millisecond
	metricsWait = 2 * time.Second // for one node's metrics; one that takes longer is left out
)

// watcher is one omni top.
type watcher struct {
	app        *app
	connection *client.Client
	every      time.Duration
	once       bool
	canvas     *tell.Canvas // nil: line by line
}

func (w *watcher) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	jobs, ctx := supervise.NewGroup(ctx)
	defer jobs.Wait()
	defer cancel()
	if !w.once {
		w.canvas, _ = w.app.tell.Canvas()
	}
	if w.canvas != nil {
		if keys, restore, ok := listen(); ok {
			defer restore()
			jobs.Go(func() { untilQuit(ctx, keys, cancel) })
		}
	}
	before, err := w.look(ctx)
	for err == nil {
		if !w.pause(ctx) {
			return nil // q, or Ctrl-C: that is how it ends
		}
		var now *top.Look
		if now, err = w.look(ctx); err != nil {
			break
		}
		if err = w.show(top.Of(before, now)); err != nil || w.once {
			return err
		}
		before = now
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (w *watcher) pause(ctx context.Context) bool {
	timer := time.NewTimer(w.every)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

func (w *watcher) show(v top.View) error {
	if w.canvas != nil {
		columns, rows := w.canvas.Size()
		return w.canvas.Draw(v.Lines(w.canvas.Style, columns, rows))
	}
	return w.app.tell.Data(v, func(p *tell.Page) {
		for _, line := range v.Lines(p.Style, 0, 0) {
			p.Line("%s", line)
		}
		if !w.once {
			p.Line("")
		}
	})
}

// look asks for the status, and every node that answered for its metrics.
func (w *watcher) look(ctx context.Context) (*top.Look, error) {
	status, err := w.connection.Status(ctx)
	if err != nil {
		return nil, err
	}
	look := &top.Look{At: time.Now(), Status: status, Metrics: make(map[string]top.Metrics)}
	var mu sync.Mutex // guards look.Metrics
	asked, ctx := supervise.NewGroup(ctx)
	for _, node := range status.Nodes {
		if node.API == "" || node.Role == "unreachable" {
			continue
		}
		asked.Go(func() {
			body, err := w.connection.Metrics(ctx, client.Node(node.API), client.Timeout(metricsWait))
			if err != nil {
				return
			}
			defer body.Close()
			if m, err := top.Read(body); err == nil {
				mu.Lock()
				defer mu.Unlock()
				look.Metrics[node.ID] = m
			}
		})
	}
	asked.Wait()
	return look, nil
}
