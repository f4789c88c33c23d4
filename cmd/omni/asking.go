package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// ask makes one read, as the flags of how say, and shows the answer.
func ask[T any](
	a *app, c *cobra.Command, how *reading,
	read func(ctx context.Context, connection *client.Client, options []client.Option) (T, error), write func(p *tell.Page, answer T),
) error {
	_, err := answerTo(a, c, how, read, write)
	return err
}

// answerTo is ask for commands that have more to do with the answer.
func answerTo[T any](
	a *app, c *cobra.Command, how *reading,
	read func(ctx context.Context, connection *client.Client, options []client.Option) (T, error), write func(p *tell.Page, answer T),
) (answer T, err error) {
	options, err := how.options(c)
	if err != nil {
		return answer, err
	}
	connection, err := a.connect()
	if err != nil {
		return answer, err
	}
	defer connection.Close()
	if answer, err = read(c.Context(), connection, options); err != nil {
		return answer, err
	}
	return answer, a.tell.Data(answer, func(p *tell.Page) { write(p, answer) })
}

// change sends one command about an agent, and shows that it is done.
func (a *app) change(c *cobra.Command, what string, send func(ctx context.Context, connection *client.Client) (api.Done, error)) error {
	return a.changeAs(c, send, func(p *tell.Page, done api.Done) { show.Done(p, what, done) })
}

func (a *app) changeAs(
	c *cobra.Command, send func(ctx context.Context, connection *client.Client) (api.Done, error), write func(p *tell.Page, done api.Done),
) error {
	connection, err := a.connect()
	if err != nil {
		return err
	}
	defer connection.Close()
	done, err := send(c.Context(), connection)
	if err != nil {
		return err
	}
	return a.tell.Data(done, func(p *tell.Page) { write(p, done) })
}

func addReasonFlag(c *cobra.Command, reason *string) {
	c.Flags().StringVar(reason, "reason", "", "kept in the record")
}

// pageFlags are those of lists that go on after something.
type pageFlags struct {
	limit int
	after string
}

func (f *pageFlags) add(c *cobra.Command, what string) {
	c.Flags().IntVar(&f.limit, "limit", api.MaxPageItems, "at most so many, 1 to 1000")
	c.Flags().StringVar(&f.after, "after", "", "go on after this "+what+", as next said")
}

// numberArg reads an argument that is a whole number.
func numberArg(c *cobra.Command, name, text string, bits int) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return 0, tell.Usage("usage: "+c.UseLine(), "%s is %q, must be a whole number", name, text)
	}
	return n, nil
}

// jsonArg reads an argument that is JSON.
func jsonArg(c *cobra.Command, name, text string) (value.Raw, error) {
	v, problem := value.FromJSON([]byte(text), maxInputBytes)
	if problem != nil {
		return nil, tell.Usage(`text goes in quotes of its own: '"hello"'; usage: `+c.UseLine(), "%s is no JSON value: %s", name, problem)
	}
	return v, nil
}

// versionFlag is --version of a compare-and-set: 0 means something too.
func versionFlag(c *cobra.Command, version uint64) *uint64 {
	if !c.Flags().Changed("version") {
		return nil
	}
	return &version
}
