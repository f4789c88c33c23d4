package model

import (
	"fmt"

	"github.com/anishathalye/porcupine"
)

// AgentStep is one operation on an agent, for the search for a linear order.
type AgentStep struct {
	ID      uint64
	Ask     Ask
	Outcome StepOutcome // Done, Maybe, or Refused
	Answer  Answer      // of Done the state; of Refused the code, and the state when it was named
}

// Agents is the model of one agent, as package porcupine wants it.
func Agents() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return Agent{} },
		Step: func(held, input, _ any) (bool, any) {
			legal, now := input.(AgentStep).After(held.(Agent))
			return legal, now
		},
		Equal:             func(a, b any) bool { return a.(Agent) == b.(Agent) },
		DescribeOperation: func(input, _ any) string { return input.(AgentStep).String() },
		DescribeState:     func(held any) string { return held.(Agent).String() },
	}
}

// After is whether the step can be taken when the agent is so, and what it is then.
func (s AgentStep) After(a Agent) (legal bool, now Agent) {
	next, answer := a.Do(s.Ask)
	switch s.Outcome {
	case Done:
		return answer.Code == "" && answer.State == s.Answer.State, next
	case Refused:
		return answer.Code == s.Answer.Code && (s.Answer.State == "" || s.Answer.State == answer.State), a
	}
	return true, next // refused, it changed nothing
}

// String is one line.
func (s AgentStep) String() string {
	text := fmt.Sprintf("#%d %s", s.ID, s.Ask.Do)
	if s.Ask.Instruction != "" {
		text += " " + s.Ask.Instruction
	}
	if s.Ask.Task {
		text += " task"
	}
	if s.Ask.Force {
		text += " by force"
	}
	switch s.Outcome {
	case Maybe:
		return text + " ?"
	case Refused:
		return text + ": " + s.Answer.Code + " " + string(s.Answer.State)
	}
	return text + ": " + string(s.Answer.State)
}
