package nemesis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/scenarios"
)

// Draw makes faults of a scenario's mix until ctx ends, and takes them back when
// their time is over. It leaves none behind.
func (n *Nemesis) Draw(ctx context.Context, s *scenarios.Scenario) error {
	type timed struct {
		*Injected
		until time.Time
	}
	var open []timed
	next := time.Now()
	failed := func() error {
		for ctx.Err() == nil {
			wake := next
			if len(open) >= s.AtOnce {
				wake = open[0].until
			}
			for _, o := range open {
				if o.until.Before(wake) {
					wake = o.until
				}
			}
			if !pauseUntil(ctx, wake) {
				break
			}
			for i := 0; i < len(open); {
				if time.Now().Before(open[i].until) {
					i++
					continue
				}
				// What has begun is brought to its end: its time is the fault's own.
				if err := n.Heal(context.WithoutCancel(ctx), open[i].Injected); err != nil {
					return err
				}
				open = append(open[:i], open[i+1:]...)
				next = time.Now().Add(n.span(s.Between))
			}
			if ctx.Err() != nil || len(open) >= s.AtOnce || time.Now().Before(next) {
				continue
			}
			f := n.draw(s.Mix)
			in, err := n.Inject(ctx, f)
			switch {
			case errors.Is(err, ErrNoTarget):
				next = time.Now().Add(50 * time.Millisecond)
			case err != nil && ctx.Err() == nil:
				return err
			case err == nil:
				open = append(open, timed{in, time.Now().Add(n.span(f.For))})
				next = time.Now().Add(n.span(s.Between))
			}
		}
		return nil
	}()
	return errors.Join(failed, n.HealAll(context.WithoutCancel(ctx)))
}

func (n *Nemesis) draw(mix []scenarios.Fault) *scenarios.Fault {
	total := 0
	for i := range mix {
		total += mix[i].Weight
	}
	at := n.dice.IntN(total)
	for i := range mix {
		if at -= mix[i].Weight; at < 0 {
			return &mix[i]
		}
	}
	panic("nemesis: the weights of a mix do not add up")
}

func (n *Nemesis) span(s scenarios.Span) time.Duration {
	return s.Min + time.Duration(n.dice.Int64N(int64(s.Max-s.Min)+1))
}

func pauseUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// stepTime bounds what a step waits for.
const stepTime = 60 * time.Second

// Play does a scenario's steps, one after the other. It leaves no fault behind.
func (n *Nemesis) Play(ctx context.Context, s *scenarios.Scenario) error {
	named := make(map[string]*Injected)
	for i := range s.Steps {
		if err := n.step(ctx, &s.Steps[i], named); err != nil {
			return errors.Join(fmt.Errorf("steps[%d]: %w", i, err), n.HealAll(context.WithoutCancel(ctx)))
		}
	}
	return n.HealAll(ctx)
}

func (n *Nemesis) step(ctx context.Context, step *scenarios.Step, named map[string]*Injected) error {
	limited, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	switch {
	case step.Inject != nil:
		var in *Injected
		err := ErrNoTarget
		for errors.Is(err, ErrNoTarget) && limited.Err() == nil {
			if in, err = n.Inject(ctx, step.Inject); errors.Is(err, ErrNoTarget) {
				pauseUntil(limited, time.Now().Add(10*time.Millisecond))
			}
		}
		named[step.As] = in
		return err
	case step.Heal == "all":
		return n.HealAll(ctx)
	case step.Heal != "":
		return n.Heal(ctx, named[step.Heal])
	case step.Wait > 0:
		pauseUntil(ctx, time.Now().Add(step.Wait))
		return ctx.Err()
	case step.Write > 0:
		enough := n.Record.Done() + int64(step.Write)
		return n.until(limited, func() bool { return n.Record.Done() >= enough }, fmt.Sprintf("%d operations are not done", step.Write))
	default:
		return n.until(limited, func() bool {
			leader := n.Leader()
			return leader != "" && !n.Disturbed(leader)
		}, "nobody leads")
	}
}

func (n *Nemesis) until(ctx context.Context, done func() bool, otherwise string) error {
	for !done() {
		if !pauseUntil(ctx, time.Now().Add(5*time.Millisecond)) {
			return fmt.Errorf("%s after %s", otherwise, stepTime)
		}
	}
	return nil
}
