package model_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/jepsen/model"
)

// The life of an agent, command by command: what it is told, and where it stands.
func TestAgent(t *testing.T) {
	lives := map[string][]struct {
		ask    model.Ask
		code   string
		answer model.State
		after  model.State
	}{
		"a service": {
			{model.Ask{Do: "kill"}, "NOT_FOUND", "", ""},
			{model.Ask{Do: "define"}, "", model.Defined, model.Defined},
			{model.Ask{Do: "define"}, "ALREADY_EXISTS", model.Defined, model.Defined},
			{model.Ask{Do: "submit", Instruction: "n"}, "INVALID_STATE", model.Defined, model.Defined},
			{model.Ask{Do: "kill"}, "INVALID_TRANSITION", model.Defined, model.Defined},
			{model.Ask{Do: "spawn"}, "", model.Spawned, model.Spawned},
			{model.Ask{Do: "activate"}, "", model.Active, model.Active},
			{model.Ask{Do: "submit", Instruction: "w"}, "", model.Active, model.Waiting},  // EV-15
			{model.Ask{Do: "resume"}, "INVALID_TRANSITION", model.Waiting, model.Waiting}, // LC-3
			{model.Ask{Do: "suspend"}, "", model.Waiting, model.Waiting},                  // LC-13
			{model.Ask{Do: "send"}, "", model.Resumable, model.Resumable},
			{model.Ask{Do: "resume"}, "", model.Active, model.Active},
			{model.Ask{Do: "submit", Instruction: "f"}, "", model.Active, model.Faulted},
			{model.Ask{Do: "recover"}, "NOT_RECOVERABLE", model.Faulted, model.Faulted}, // FA-2
			{model.Ask{Do: "reclassify"}, "", model.Faulted, model.Faulted},
			{model.Ask{Do: "recover"}, "", model.Active, model.Faulted},
			{model.Ask{Do: "abandon"}, "", model.Terminated, model.Terminated},
			{model.Ask{Do: "kill"}, "INVALID_TRANSITION", model.Terminated, model.Terminated},
		},
		"a task": {
			{model.Ask{Do: "define", Task: true}, "", model.Defined, model.Defined},
			{model.Ask{Do: "spawn"}, "", model.Spawned, model.Spawned},
			{model.Ask{Do: "activate"}, "NO_INSTRUCTION", model.Spawned, model.Spawned}, // LC-11
			{model.Ask{Do: "submit", Instruction: "n"}, "", model.Spawned, model.Spawned},
			{model.Ask{Do: "activate"}, "", model.Active, model.Terminated},
		},
		"one that is asked to leave, and then made to": { // LC-13
			{model.Ask{Do: "start", Instruction: "w"}, "", model.Active, model.Waiting},
			{model.Ask{Do: "suspend"}, "", model.Waiting, model.Waiting},
			{model.Ask{Do: "suspend"}, "INVALID_TRANSITION", model.Waiting, model.Waiting},
			{model.Ask{Do: "suspend", Force: true}, "", model.Resumable, model.Resumable},
			{model.Ask{Do: "suspend", Force: true}, "INVALID_TRANSITION", model.Resumable, model.Resumable},
			{model.Ask{Do: "resume"}, "", model.Active, model.Faulted},
			{model.Ask{Do: "reclassify"}, "", model.Faulted, model.Faulted},
			{model.Ask{Do: "recover"}, "", model.Active, model.Waiting},
			{model.Ask{Do: "send"}, "", model.Active, model.Active}, // nothing of the first request is left
		},
		"one whose wait is withdrawn": {
			{model.Ask{Do: "start", Instruction: "w"}, "", model.Active, model.Waiting},
			{model.Ask{Do: "suspend", Force: true}, "", model.Resumable, model.Resumable},
			{model.Ask{Do: "resume"}, "", model.Active, model.Faulted},
			{model.Ask{Do: "reclassify"}, "", model.Faulted, model.Faulted},
			{model.Ask{Do: "recover"}, "", model.Active, model.Waiting}, // FA-1: it listens again
			{model.Ask{Do: "send"}, "", model.Active, model.Active},
		},
	}
	for name, life := range lives {
		a := model.Agent{}
		for _, step := range life {
			var answer model.Answer
			a, answer = a.Do(step.ask)
			require.Equal(t, model.Answer{Code: step.code, State: step.answer}, answer, "%s: %+v", name, step.ask)
			require.Equal(t, step.after, a.State, "%s: %+v", name, step.ask)
		}
	}
}

// A refusal changes nothing, and nobody comes back from the end.
func TestAgentRefusals(t *testing.T) {
	all := []string{
		"define", "start", "spawn", "activate", "suspend", "resume", "expire", "recover", "abandon", "kill", "submit",
		"send", "reclassify", "get",
	}
	rapid.Check(t, func(t *rapid.T) {
		a := model.Agent{}
		for range 40 {
			ask := model.Ask{Do: rapid.SampledFrom(all).Draw(t, "do"), Force: rapid.Bool().Draw(t, "force"), Task: rapid.Bool().Draw(t, "task")}
			if ask.Do == "start" || ask.Do == "submit" {
				ask.Instruction = rapid.SampledFrom([]string{"n", "w", "f"}).Draw(t, "instruction")
			}
			next, answer := a.Do(ask)
			if answer.Code != "" && next != a {
				t.Fatalf("%s is refused, and makes %v of %v", ask.Do, next, a)
			}
			if a.State == model.Terminated && next != a {
				t.Fatalf("%s makes %v of the dead", ask.Do, next)
			}
			a = next
		}
	})
}
