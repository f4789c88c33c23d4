package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/event"
)

// noLimit takes a limit away.
const noLimit = "none"

// limitFlags give an account other limits.
type limitFlags struct{ tokens, usd, micros, time, warn, reason string }

func (f *limitFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.tokens, "tokens", "", "the limit of tokens, or none")
	c.Flags().StringVar(&f.usd, "usd", "", "the limit in US dollars, such as 2.50, or none")
	c.Flags().StringVar(&f.time, "time", "", "the limit of the time at work, such as 90m, or none")
	c.Flags().StringVar(&f.warn, "warn", "", "percent of a limit at which a warning is recorded, such as 80")
	addReasonFlag(c, &f.reason)
}

// given tells whether a limit is to be changed.
func (f *limitFlags) given() (bool, error) {
	if f.tokens+f.usd+f.micros+f.time+f.warn != "" {
		return true, nil
	}
	if f.reason != "" {
		return false, tell.Usage("add --tokens, --usd, --time or --warn", "--reason is given, and nothing to change")
	}
	return false, nil
}

// command is what the flags ask for, of the account that an agent holds.
func (f *limitFlags) command(agent string) (cmd event.SetBudget, err error) {
	cmd.Agent, cmd.Reason = agent, f.reason
	if cmd.Tokens, err = countFlag("--tokens", f.tokens); err != nil {
		return cmd, err
	}
	if f.usd != "" && f.micros != "" {
		return cmd, tell.Usage("give one of them", "--usd and --micro-usd are the same limit")
	}
	if cmd.USDMicros, err = dollarsFlag("--usd", f.usd); err == nil && f.micros != "" {
		cmd.USDMicros, err = countFlag("--micro-usd", f.micros)
	}
	if err != nil {
		return cmd, err
	}
	if cmd.WallMillis, err = timeFlag("--time", f.time); err != nil {
		return cmd, err
	}
	cmd.WarnPercent, err = percentFlag("--warn", f.warn)
	return cmd, err
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
