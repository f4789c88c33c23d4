package supervise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/thejerf/suture/v4"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

// Component is a long-lived part of a node.
type Component struct {
	Name string
	// Run works until the context ends. Returning nil before means that there is
	// nothing left to do; an error or a panic is a failure.
	Run func(ctx context.Context) error
	// Required says that the node is worth nothing without it. Given up, it is
	// reported to Options.Lost.
	Required bool
	// Rests says that it is at work at times only, such as while the node leads. It
	// begins no earlier than its last failure allows.
	Rests bool
	// Down is told that it has failed and is not started again at once, or given up
	// for good. The context is that of Run. nil: nobody is told.
	Down func(ctx context.Context, forGood bool)
}

// Options of Run.
type Options struct {
	State  *nodestate.Registry
	Logger hclog.Logger
	Lost   func(error) // a required component has been given up; may be nil without one
}

// Run keeps components at work until the context ends, and returns when all of
// them have ended.
func Run(ctx context.Context, o Options, components ...Component) {
	if len(components) == 0 {
		<-ctx.Done()
		return
	}
	// When something is started again is for the lifecycle to say, each time: the
	// library restarts at once.
	spec := suture.Spec{EventHook: func(suture.Event) {}, FailureThreshold: math.MaxFloat64, Timeout: stopEventually}
	tree := suture.New("node", spec)
	for _, c := range components {
		o.State.Name(c.Name, c.Required)
		s := &service{Component: c, Options: o}
		if c.Rests {
			s.wait = o.State.Due(c.Name)
		}
		tree.Add(s)
	}
	_ = tree.Serve(ctx) // ends with the context only, and after every component
	for _, c := range components {
		(&service{Component: c, Options: o}).ended() // one that waited for its restart, too
	}
}

// Begin is Run in a goroutine of its own. The channel is closed when it returns.
func Begin(ctx context.Context, o Options, components ...Component) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Run(ctx, o, components...)
	}()
	return ended
}

// stopEventually is how long the library waits for a component that was told to
// end: as long as it takes, since what follows must not begin beside it.
const stopEventually = 24 * time.Hour

// service is a component as the library sees it.
type service struct {
	Component
	Options
	wait time.Duration // before it is started again
}

// Serve runs the component once.
func (s *service) Serve(ctx context.Context) error {
	if !s.rest(ctx) {
		return suture.ErrDoNotRestart
	}
	s.State.OK(s.Name)
	err := s.run(ctx)
	if ctx.Err() != nil || err == nil {
		if panicked := new(panicError); errors.As(err, &panicked) {
			s.State.Hurt(s.Name, err.Error()) // while it ended
		}
		s.ended()
		return suture.ErrDoNotRestart
	}
	wait, again := s.State.Failed(s.Name, err.Error())
	if again {
		s.Logger.Error("a component has failed and is started again", "component", s.Name, "error", err, "in", wait)
		s.wait = wait
		s.down(ctx, wait > 0, false)
		return err
	}
	s.Logger.Error("a component keeps failing and is given up", "component", s.Name, "error", err)
	if s.Required {
		s.Lost(fmt.Errorf("%s keeps failing and was given up: %w", s.Name, err))
	}
	s.down(ctx, true, true)
	return suture.ErrDoNotRestart
}

func (s *service) down(ctx context.Context, is, forGood bool) {
	if is && s.Down != nil {
		s.Down(ctx, forGood)
	}
}

// rest waits until the component may be started; false when its time is over.
func (s *service) rest(ctx context.Context) bool {
	timer := time.NewTimer(s.wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// run turns a panic into an error.
func (s *service) run(ctx context.Context) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = s.panicked(s.Name, cause)
		}
	}()
	return s.Run(ctx)
}

func (s *service) ended() {
	if s.Rests {
		s.State.Rests(s.Name)
		return
	}
	s.State.Stopped(s.Name)
}
