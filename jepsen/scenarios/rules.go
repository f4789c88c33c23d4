package scenarios

import (
	"errors"
	"fmt"
	"slices"
)

// check says what is wrong with a scenario, by field.
func (s *Scenario) check() error {
	switch {
	case s.Name == "":
		return errors.New("name: it is missing")
	case s.About == "":
		return errors.New("about: say in one sentence what it is after")
	case s.Nodes != 3 && s.Nodes != 5:
		return fmt.Errorf("nodes: %d; a cluster has 3 or 5", s.Nodes)
	case s.Store != "bolt" && s.Store != "wal":
		return fmt.Errorf("store: %q; it is bolt or wal", s.Store)
	case !slices.Contains([]string{Plain, Image, Faulty}, s.Disks):
		return fmt.Errorf("disks: %q; it is image, faulty, or left out", s.Disks)
	case len(s.Workloads) == 0:
		return errors.New("workloads: there is none")
	case s.Rate <= 0:
		return errors.New("rate: how many operations a second are wanted?")
	case s.Exploratory() == (len(s.Steps) > 0):
		return errors.New("mix, steps: it has one of them, faults to draw from or fixed steps")
	case s.Exploratory() && s.Faults <= 0:
		return errors.New("faults: how long is drawn from the mix?")
	case s.AtOnce < 1:
		return fmt.Errorf("at_once: %d; it is at least 1", s.AtOnce)
	}
	for name, workers := range s.Workloads {
		if workers < 1 {
			return fmt.Errorf("workloads.%s: %d; a workload has at least one worker", name, workers)
		}
	}
	for i := range s.Mix {
		if err := s.Mix[i].check(); err != nil {
			return fmt.Errorf("mix[%d].%w", i, err)
		}
		if s.Mix[i].Weight < 1 {
			return fmt.Errorf("mix[%d].weight: %d; it is at least 1", i, s.Mix[i].Weight)
		}
		if s.Mix[i].For.Max <= 0 {
			return fmt.Errorf("mix[%d].for: how long does it stay?", i)
		}
	}
	return s.checkSteps()
}

func (f *Fault) check() error {
	switch {
	case f.Kind == "":
		return errors.New("kind: it is missing")
	case f.Percent < 0 || f.Percent > 100:
		return fmt.Errorf("percent: %d", f.Percent)
	}
	return nil
}

func (s *Scenario) checkSteps() error {
	open := make(map[string]bool)
	for i := range s.Steps {
		step := &s.Steps[i]
		if n := step.fields(); n != 1 {
			return fmt.Errorf("steps[%d]: it says %d things; it says one", i, n)
		}
		switch {
		case step.Inject != nil:
			if err := step.Inject.check(); err != nil {
				return fmt.Errorf("steps[%d].inject.%w", i, err)
			}
			if step.As == "all" || open[step.As] {
				return fmt.Errorf("steps[%d].as: %q is taken", i, step.As)
			}
			if step.As != "" {
				open[step.As] = true
			}
		case step.As != "":
			return fmt.Errorf("steps[%d].as: it names an injected fault", i)
		case step.Heal != "" && step.Heal != "all" && !open[step.Heal]:
			return fmt.Errorf("steps[%d].heal: nothing was injected as %q", i, step.Heal)
		case step.Heal != "":
			delete(open, step.Heal)
		}
	}
	return nil
}

func (s *Step) fields() int {
	n := 0
	for _, set := range []bool{s.Inject != nil, s.Heal != "", s.Wait > 0, s.Write > 0, s.Lead} {
		if set {
			n++
		}
	}
	return n
}
