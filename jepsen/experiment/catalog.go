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
	case "budget":
		return new(traffic.Budgets), nil
	case "revocation":
		return new(traffic.Revocation), nil
	}
	return nil, fmt.Errorf("workloads: there is no %q", name)
}

// CheckersOf are those that judge a scenario's runs: the ones about every run, and
// those of its workloads.
func CheckersOf(s *scenarios.Scenario) []check.Checker {
	checkers := []check.Checker{check.Harness{Wants: wants(s)}, check.Replicas{}, check.Effects{}}
	for _, c := range []check.Checker{
		check.Register{}, check.Reads{}, check.Stream{}, check.Lifecycle{}, check.Append{}, check.Repeat{}, check.Errands{}, check.Revocation{}, check.Budgets{},
	} {
		if s.Workloads[c.Name()] > 0 {
			checkers = append(checkers, c)
		}
	}
	return checkers
}

// wants are the faults that a run must have had: each of the steps, or any of a mix.
func wants(s *scenarios.Scenario) map[string]int {
	if s.Exploratory() {
		return map[string]int{"": 1}
	}
	kinds := make(map[string]int)
	for i := range s.Steps {
		if f := s.Steps[i].Inject; f != nil {
			kinds[f.Kind]++
		}
	}
	return kinds
}
