package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func newRunWatch(a *app) *cobra.Command {
	var node string
	c := &cobra.Command{
		Use:   "watch ID",
		Short: "Follow a run to its end, as it happens",
		Long: `On a terminal: the run's state, a line for each task, and bars for what it has spent
and reserved of its budget, with a mark where its warning is; drawn anew as it changes.
Elsewhere: a line for each change, in order, each once, without gaps. With -o json the
run itself, each time that it has changed.

It goes on at another node when its node is gone, and through pauses. It ends with the
run: the exit code is 0 if that is COMPLETED, and 1 otherwise.`,
		Example: `  omni run watch 018f4e5c-0000-7000-8000-000000000001
  omni run watch 018f4e5c-0000-7000-8000-000000000001 | tee run.log`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			var options []client.Option
			if node != "" {
				options = append(options, client.Node(node))
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			return a.watchRun(c.Context(), connection, args[0], options...)
		},
	}
	c.Flags().StringVar(&node, "node", "", "ask this node only, by id or address")
	return c
}

// watchRun shows a run until it is over, in the way that fits where it is shown.
func (a *app) watchRun(ctx context.Context, connection *client.Client, id string, options ...client.Option) error {
	if canvas, ok := a.tell.Canvas(); ok {
		return drawRun(ctx, connection, id, canvas, options)
	}
	var told uint64
	for news, err := range connection.FollowRun(ctx, id, options...) {
		if err != nil {
			return err
		}
		switch {
		case a.tell.IsJSON() && news.Run.Index == told:
		case a.tell.IsJSON():
			err = a.tell.Data(news.Run, nil)
		case news.Record != nil:
			err = a.tell.Data(nil, func(p *tell.Page) { show.RunHappened(p, news.Run, *news.Record) })
		case told == 0:
			err = a.tell.Data(nil, func(p *tell.Page) { show.RunStands(p, news.Run) })
		}
		if err != nil {
			return err
		}
		// Lines end with the record that ends the run, which may be read ahead of.
		if over(news.Run) && (a.tell.IsJSON() || told == 0 || news.Record != nil && news.Record.BusSeq >= news.Run.Last.BusSeq) {
			return ofRun(news.Run)
		}
		told = news.Run.Index
	}
	return ctx.Err()
}

// Between two looks at a run that nothing is said of: agents below it spend, and time
// passes. Between two frames: something turns.
const (
	lookEvery  = time.Second
	frameEvery = 200 * time.Millisecond
)

// looked is what whoever looks at a run has seen.
type looked struct {
	run api.Run
	err error
}

// drawRun draws the run until it is over.
func drawRun(ctx context.Context, connection *client.Client, id string, canvas *tell.Canvas, options []client.Option) error {
	ctx, cancel := context.WithCancel(ctx)
	jobs, ctx := supervise.NewGroup(ctx)
	defer jobs.Wait()
	defer cancel()
	seen := make(chan looked)
	jobs.Go(func() { followInto(ctx, connection, id, options, seen) })
	jobs.Go(func() { lookInto(ctx, connection, id, options, seen) })
	frames := time.NewTicker(frameEvery)
	defer frames.Stop()
	frame := show.RunFrame{Style: canvas.Style, ASCII: !tell.Unicode()}
	var run api.Run
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-frames.C:
		case look := <-seen:
			if look.err != nil {
				return look.err
			}
			if look.run.Index < run.Index {
				continue // overtaken
			}
			run = look.run
		}
		if run.RunID == "" {
			continue
		}
		frame.Columns, frame.Rows = canvas.Size()
		frame.Now = time.Now().UnixMilli()
		if err := canvas.Draw(frame.Lines(run)); err != nil {
			return err
		}
		if over(run) {
			return ofRun(run)
		}
	}
}

// followInto hands on each change, and the error that ends it.
func followInto(ctx context.Context, connection *client.Client, id string, options []client.Option, seen chan<- looked) {
	for news, err := range connection.FollowRun(ctx, id, options...) {
		select {
		case seen <- looked{news.Run, err}:
		case <-ctx.Done():
			return
		}
	}
}

// lookInto looks at the run now and then. That it does not see it is no error: whoever
// follows it knows why.
func lookInto(ctx context.Context, connection *client.Client, id string, options []client.Option, seen chan<- looked) {
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		run, err := connection.Run(ctx, id, append(options[:len(options):len(options)], client.Consistency(api.SessionLevel), client.Timeout(lookEvery))...)
		if err != nil {
			continue
		}
		select {
		case seen <- looked{run, nil}:
		case <-ctx.Done():
			return
		}
	}
}
