package nodestate

import "fmt"

// guard says why a transition may not be made now; empty when it may.
type guard func(r *Registry) string

func always(*Registry) string { return "" }

func configValid(r *Registry) string {
	if r.options.Invalid != "" {
		return "the configuration is not valid: " + r.options.Invalid
	}
	return ""
}

func requiredHealthy(r *Registry) string {
	for _, c := range r.components {
		if c.Required && c.Status != StatusOK {
			return fmt.Sprintf("a required component is not healthy: %s is %s", c.Name, c.Status)
		}
	}
	return ""
}

func healthyAndHeld(r *Registry) string {
	if r.memory.Suspension == nil {
		return "the node was not suspended before"
	}
	return requiredHealthy(r)
}

func healthyAndFree(r *Registry) string {
	if r.memory.Suspension != nil {
		return "the node was suspended before"
	}
	return requiredHealthy(r)
}

func attemptsLeft(r *Registry) string {
	if r.attempt >= r.options.Policy.StartAttempts {
		return fmt.Sprintf("no start is left of %d", r.options.Policy.StartAttempts)
	}
	return ""
}

func noAttemptsLeft(r *Registry) string {
	if left := r.options.Policy.StartAttempts - r.attempt; left > 0 {
		return fmt.Sprintf("starts are left: %d of %d", left, r.options.Policy.StartAttempts)
	}
	return ""
}

func streakReached(r *Registry) string {
	for _, c := range r.components {
		if r.streak(c) >= r.options.Policy.DegradedAfter {
			return ""
		}
	}
	return fmt.Sprintf("no component has failed %d times in a row", r.options.Policy.DegradedAfter)
}

// windowClear wants every component to be at work, and none to have failed
// within the window.
func windowClear(r *Registry) string {
	for _, c := range r.components {
		switch {
		case c.Status == StatusBackoff || c.Status == StatusFailed:
			return fmt.Sprintf("%s is %s", c.Name, c.Status)
		case r.streak(c) > 0:
			return fmt.Sprintf("%s has failed within the last %v", c.Name, r.options.Policy.ErrorWindow)
		}
	}
	return ""
}

func allStopped(r *Registry) string {
	for _, c := range r.components {
		if c.Status != StatusStopped && c.Status != StatusFailed && c.Status != StatusIdle {
			return fmt.Sprintf("%s has not stopped", c.Name)
		}
	}
	return ""
}
