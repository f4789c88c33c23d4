package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// noLimit takes a limit away.
const noLimit = "none"

func newAgentBudget(a *app) *cobra.Command {
	var how reading
	var asked struct{ tokens, usd, time, warn, reason string }
	c := &cobra.Command{
		Use:   "budget ID",
		Short: "Show what an agent may spend and has spent, or give it other limits",
		Long: `An agent that was given a budget holds an account; agents below it draw on it too.
What a call may come to is reserved before the call is made, and what it came to
is settled, in the account of the agent and in every one above. A call for which
there is no room now waits for others to come to less; one for which there never
will be is BUDGET_EXCEEDED.

With a flag the account that the agent holds itself gets another limit, which may
not be below what is spent and reserved. The change is on record, with its reason.`,
		Example: `  omni agent budget 018f4e5c-0000-7000-8000-000000000001
  omni agent budget 018f4e5c-0000-7000-8000-000000000001 --usd 2.50 --reason "the pages are longer than expected"
  omni agent budget 018f4e5c-0000-7000-8000-000000000001 --tokens 500000 --time none -o json`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			if asked.tokens+asked.usd+asked.time+asked.warn == "" {
				if asked.reason != "" {
					return tell.Usage("add --tokens, --usd, --time or --warn", "--reason is given, and nothing to change")
				}
				return ask(a, c, &how, func(ctx context.Context, connection *client.Client, options []client.Option) (api.Agent, error) {
					return connection.Agent(ctx, args[0], options...)
				}, show.Budget)
			}
			cmd := event.SetBudget{Agent: args[0], Reason: asked.reason}
			for _, read := range []func() error{
				func() (err error) { cmd.Tokens, err = countFlag("--tokens", asked.tokens); return err },
				func() (err error) { cmd.USDMicros, err = dollarsFlag("--usd", asked.usd); return err },
				func() (err error) { cmd.WallMillis, err = timeFlag("--time", asked.time); return err },
				func() (err error) { cmd.WarnPercent, err = percentFlag("--warn", asked.warn); return err },
			} {
				if err := read(); err != nil {
					return err
				}
			}
			return a.change(c, "changed the budget of", func(ctx context.Context, connection *client.Client) (api.Done, error) {
				return connection.SetBudget(ctx, cmd)
			})
		},
	}
	c.Flags().StringVar(&asked.tokens, "tokens", "", "the limit of tokens, or none")
	c.Flags().StringVar(&asked.usd, "usd", "", "the limit in US dollars, such as 2.50, or none")
	c.Flags().StringVar(&asked.time, "time", "", "the limit of the time at work, such as 90m, or none")
	c.Flags().StringVar(&asked.warn, "warn", "", "percent of a limit at which a warning is recorded, such as 80")
	addReasonFlag(c, &asked.reason)
	how.addFlags(c)
	return c
}

func countFlag(flag, text string) (*uint64, error) {
	switch text {
	case "":
		return nil, nil
	case noLimit:
		return new(uint64), nil
	}
	n, err := strconv.ParseUint(text, 10, 53)
	if err != nil || n == 0 {
		return nil, tell.Usage("for example "+flag+" 500000, or none", "%s is %q, must be a whole number from 1", flag, text)
	}
	return &n, nil
}

// dollarsFlag reads dollars exactly: no more than six places.
func dollarsFlag(flag, text string) (*uint64, error) {
	switch text {
	case "":
		return nil, nil
	case noLimit:
		return new(uint64), nil
	}
	whole, part, _ := strings.Cut(text, ".")
	wrong := tell.Usage("for example "+flag+" 2.50, or none", "%s is %q, must be dollars with at most six places", flag, text)
	if len(part) > 6 {
		return nil, wrong
	}
	micros, err := strconv.ParseUint(whole+part+strings.Repeat("0", 6-len(part)), 10, 53)
	if err != nil || micros == 0 {
		return nil, wrong
	}
	return &micros, nil
}

func timeFlag(flag, text string) (*int64, error) {
	switch text {
	case "":
		return nil, nil
	case noLimit:
		return new(int64), nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Millisecond {
		return nil, tell.Usage("for example "+flag+" 90m, or none", "%s is %q, must be a duration", flag, text)
	}
	millis := d.Milliseconds()
	return &millis, nil
}

func percentFlag(flag, text string) (*uint32, error) {
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 || n > 100 {
		return nil, tell.Usage("for example "+flag+" 80", "%s is %q, must be from 1 to 100", flag, text)
	}
	percent := uint32(n)
	return &percent, nil
}
