package experiment

import (
	"fmt"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/scenarios"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
)

// workload makes the workload of a name.
func workload(name string) (traffic.Workload, error) {
	switch name {
	case "register":
		return new(traffic.Register), nil
	case "reads":
		return new(traffic.Readers), nil
	case "stream":
		return new(traffic.Streams), nil
	case "lifecycle":
		return new(traffic.Lifecycle), nil
	case "append":
		return new(traffic.Append), nil
	case "repeat":
		return new(traffic.Repeat), nil
	case "tool":
		return new(traffic.Errands), nil
	case "revocation":
		return new(traffic.Revocation), nil
	}
	return nil, fmt.Errorf("workloads: there is no %q", name)
}

// CheckersOf are those that judge a scenario's runs: the ones about every run, and
// those of its workloads.
func CheckersOf(s *scenarios.Scenario) []check.Checker {
	checkers := []check.Checker{check.Effects{}}
	for _, c := range []check.Checker{
		check.Register{}, check.Reads{}, check.Stream{}, check.Lifecycle{}, check.Append{}, check.Repeat{}, check.Errands{}, check.Revocation{},
	} {
		if s.Workloads[c.Name()] > 0 {
			checkers = append(checkers, c)
		}
	}
	return checkers
}
