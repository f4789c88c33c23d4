package nodestate

import (
	"fmt"
	"time"
)

// Status of a component.
type Status string

// The statuses.
const (
	StatusStarting Status = "starting" // named, and not at work yet
	StatusOK       Status = "ok"       // at work
	StatusFailing  Status = "failing"  // has failed, and is started again at once
	StatusBackoff  Status = "backoff"  // failed too often: the next start waits
	StatusFailed   Status = "failed"   // given up
	StatusIdle     Status = "idle"     // has nothing to do at the moment, such as what only a leader does
	StatusStopped  Status = "stopped"  // ended in order
)

// failed tells whether something is wrong with a component.
func (s Status) failed() bool { return s == StatusFailing || s == StatusBackoff || s == StatusFailed }

// Component is what is known of one of a node's long-lived parts.
type Component struct {
	Name        string
	Required    bool // the node is worth nothing without it
	Status      Status
	LastOK      time.Time // when it began to work last, or was seen at work
	LastErrorAt time.Time
	LastError   string
	Restarts    int       // since the process began
	RetryAt     time.Time // of the next start, with StatusBackoff
}

type component struct {
	Component
	failures int       // in a row: with less than an ErrorWindow in between
	hurt     time.Time // when Hurt was on record last
}

// streak is how often a component has failed in a row; 0 once it has worked for
// an ErrorWindow.
func (r *Registry) streak(c *component) int {
	atWork := c.Status != StatusBackoff && c.Status != StatusFailed
	if atWork && r.options.Now().Sub(c.LastErrorAt) >= r.options.Policy.ErrorWindow {
		return 0
	}
	return c.failures
}

// component finds one by name, or makes it. Called with mu held.
func (r *Registry) component(name string) *component {
	for _, c := range r.components {
		if c.Name == name {
			return c
		}
	}
	c := &component{Component: Component{Name: name, Status: StatusStarting}}
	r.components = append(r.components, c)
	return c
}

// Name makes a component known before it works. A required one keeps the node
// from Running until it does.
func (r *Registry) Name(name string, required bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.component(name).Required = required
}

// OK notes that a component works.
func (r *Registry) OK(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.component(name)
	c.LastOK, c.RetryAt = r.options.Now().UTC(), time.Time{}
	r.become(c, StatusOK, "")
}

// Failed notes that a component has failed, and tells after which wait it may be
// started again; never, when its budget is spent. A component that keeps failing
// makes the node Degraded.
func (r *Registry) Failed(name, cause string) (wait time.Duration, again bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c, now, policy := r.component(name), r.options.Now().UTC(), &r.options.Policy
	c.failures = r.streak(c) + 1
	c.LastErrorAt, c.LastError, c.RetryAt = now, brief(cause), time.Time{}
	status := StatusFailed
	if again = c.failures < policy.RestartBudget; again {
		c.Restarts++
		status = StatusFailing
		if beyond := c.failures - policy.DegradedAfter; beyond > 0 {
			status, wait = StatusBackoff, policy.doubling(policy.RestartBackoff, beyond)
			c.RetryAt = now.Add(wait)
		}
	}
	r.become(c, status, cause)
	r.review()
	return wait, again
}

// Hurt notes that a component failed somebody who asked it for something, and goes on.
// It is on record once an ErrorWindow: whoever asks again and again must not fill the
// journal.
func (r *Registry) Hurt(name, cause string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.components {
		if c.Name != name {
			continue
		}
		now := r.options.Now().UTC()
		c.LastErrorAt, c.LastError = now, brief(cause)
		if c.hurt.IsZero() || now.Sub(c.hurt) >= r.options.Policy.ErrorWindow {
			c.hurt = now
			r.record(Entry{Kind: KindComponent, By: "node", Component: c.Name, Status: c.Status, Cause: cause, Restarts: c.Restarts})
		}
	}
}

// Due is how long a component that failed must still wait before it begins again.
func (r *Registry) Due(name string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return max(0, r.component(name).RetryAt.Sub(r.options.Now()))
}

// Rests notes that a component has nothing to do at the moment.
func (r *Registry) Rests(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.component(name); c.Status != StatusFailed {
		r.become(c, StatusIdle, "")
	}
}

// Stopped notes that a component has ended because it was told to.
func (r *Registry) Stopped(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.component(name); c.Status != StatusFailed {
		r.become(c, StatusStopped, "")
	}
}

// become gives a component a status. What it fails of is on record, and that it
// works again; that it begins, rests and ends is not news.
func (r *Registry) become(c *component, s Status, cause string) {
	was := c.Status
	c.Status = s
	if !s.failed() && (!was.failed() || s != StatusOK) {
		if was != s {
			r.wake()
		}
		return
	}
	r.record(Entry{Kind: KindComponent, By: "node", Component: c.Name, Status: s, Cause: cause, Restarts: c.Restarts})
}

// Review makes the transitions that time has made due: a node is Degraded no
// more when no component has failed for a while.
func (r *Registry) Review() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.review()
}

func (r *Registry) review() {
	switch r.memory.State {
	case Running:
		if streakReached(r) == "" {
			worst := r.worst()
			_ = r.transition(ComponentErrors, Cause{By: "component:" + worst.Name, // the guard was asked
				Text: fmt.Sprintf("%s has failed %d times in a row: %s", worst.Name, worst.failures, worst.LastError)})
		}
	case Degraded:
		if windowClear(r) == "" {
			_ = r.transition(Recovered, Cause{By: "node", Text: fmt.Sprintf("no component has failed for %v", r.options.Policy.ErrorWindow)})
		}
	}
}

// worst is the component with the longest streak.
func (r *Registry) worst() *component {
	worst := r.components[0]
	for _, c := range r.components[1:] {
		if r.streak(c) > r.streak(worst) {
			worst = c
		}
	}
	return worst
}
