package traffic

import (
	"context"
	"fmt"
	"sync"

	"github.com/google/uuid"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const (
	crowd    = 6  // agents that are worked on at a time
	lifespan = 60 // operations on an agent, about; then another takes its place
)

// Lifecycle sends every command there is to a few agents at a time, from all
// workers at once. The agents do nothing by themselves, so that whatever happens to
// one is the work of a command: see model.Agent.
type Lifecycle struct {
	mu     sync.Mutex // guards what follows
	agents [crowd]slot
	tags   int64
	ids    []string
}

// slot is an agent, as far as the workers know it.
type slot struct {
	id    string
	state model.State // the last that somebody saw
	left  int         // operations
}

// Name implements Workload.
func (*Lifecycle) Name() string { return model.Lifecycle }

// Setup implements Workload: agents are made by their first commands.
func (*Lifecycle) Setup(context.Context, *Env) error { return nil }

// Work implements Workload.
func (l *Lifecycle) Work(ctx context.Context, w *Worker) {
	place, s, tag := l.pick(w)
	ask := choose(w, s.state)
	var (
		outcome history.Outcome
		state   string
	)
	if ask.Do == "get" {
		state, outcome = l.get(ctx, w, s.id, ask)
	} else {
		done, out := w.Do(ctx, Command{Name: ask.Do, Key: s.id, In: ask, Body: lifecycleBody(s.id, tag, ask)})
		state, outcome = done.State, out
	}
	if outcome == history.Ok {
		l.saw(place, s.id, model.State(state))
	}
}

// pick chooses an agent, and gives a mark that no other operation has.
func (l *Lifecycle) pick(w *Worker) (place int, s slot, tag string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	place = w.Dice.IntN(crowd)
	chosen := &l.agents[place]
	if chosen.left <= 0 {
		*chosen = slot{id: newID(w), left: lifespan/2 + w.Dice.IntN(lifespan)}
		l.ids = append(l.ids, chosen.id)
	}
	chosen.left--
	if chosen.state == model.Terminated && w.Dice.IntN(4) == 0 {
		chosen.left = 0 // enough has been asked of the dead
	}
	l.tags++
	return place, *chosen, fmt.Sprintf("lifecycle-%d", l.tags)
}

func (l *Lifecycle) saw(place int, id string, state model.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.agents[place].id == id {
		l.agents[place].state = state
	}
}

// newID draws an agent's id from the worker's dice.
func newID(w *Worker) string {
	var id uuid.UUID
	for i := range id {
		id[i] = byte(w.Dice.UintN(256))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80 // version 7, RFC 9562
	return id.String()
}

// likely is what is worth asking in a state; anything else is asked too, now and
// then.
var likely = map[model.State][]string{
	model.Nobody:     {"define", "define", "start"},
	model.Defined:    {"spawn"},
	model.Spawned:    {"activate", "activate", "submit", "send"},
	model.Active:     {"submit", "submit", "submit", "suspend", "send"},
	model.Waiting:    {"send", "send", "submit", "suspend", "get"},
	model.Resumable:  {"resume", "resume", "submit", "send", "expire"},
	model.Faulted:    {"reclassify", "recover", "recover", "abandon"},
	model.Terminated: {"get", "define", "submit", "kill"},
}

// everything is what can be asked.
var everything = []string{
	"define", "start", "spawn", "activate", "suspend", "resume", "expire", "recover", "abandon", "submit", "send",
	"reclassify", "get", "get", "get",
}

func choose(w *Worker, state model.State) model.Ask {
	from := likely[state]
	if len(from) == 0 || w.Dice.IntN(3) == 0 {
		from = everything
	}
	ask := model.Ask{Do: from[w.Dice.IntN(len(from))]}
	if w.Dice.IntN(60) == 0 {
		ask.Do = "kill"
	}
	switch ask.Do {
	case "define":
		ask.Task, ask.Instruction = w.Dice.IntN(3) == 0, [...]string{"", "", "n", "w", "f"}[w.Dice.IntN(5)]
	case "start":
		ask.Task, ask.Instruction = w.Dice.IntN(3) == 0, [...]string{"n", "w", "w", "f"}[w.Dice.IntN(4)]
	case "submit":
		ask.Instruction = [...]string{"n", "n", "w", "w", "w", "f"}[w.Dice.IntN(6)]
	case "suspend":
		ask.Force = w.Dice.IntN(2) == 0
	}
	return ask
}

// programs of the instructions.
var programs = map[string]value.Raw{
	string(model.Note):   program(`{"kind":"LITERAL","payload":{"value":"noted"}}`),
	string(model.Listen): program(`{"kind":"RECEIVE","payload":{}}`),
	string(model.Break):  program(`{"kind":"FAIL","payload":{"message":"as it was asked to"}}`),
}

// program is one that is written here, so that it cannot be wrong.
func program(text string) value.Raw {
	raw, problem := value.FromJSON([]byte(text), 1<<16)
	if problem != nil {
		panic("traffic: a program that is none: " + problem.String())
	}
	return raw
}

// lifecycleBody is the command that an ask stands for.
func lifecycleBody(id, tag string, ask model.Ask) any {
	define := event.Define{
		ID: id, Name: tag, Mode: "service", Program: programs[ask.Instruction],
		Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "**"}},
	}
	if ask.Task {
		define.Mode = "task"
	}
	switch ask.Do {
	case "define":
		return define
	case "start":
		return event.Start{Define: define}
	case "kill":
		return event.Kill{Agent: id, Reason: tag}
	case "submit":
		return event.Submit{Agent: id, Program: programs[ask.Instruction], Input: value.AppendString(nil, tag)}
	case "send":
		return event.Send{Agent: id, Message: value.AppendString(nil, tag)}
	case "reclassify":
		return event.Reclassify{Agent: id, Reason: tag}
	}
	return event.Trigger{Agent: id, Trigger: ask.Do, Reason: tag, Force: ask.Force}
}

func (*Lifecycle) get(ctx context.Context, w *Worker, id string, ask model.Ask) (string, history.Outcome) {
	ctx, cancel := w.Within(ctx)
	defer cancel()
	call := w.Call(ask.Do, id, ask)
	agent, err := w.Client.Agent(ctx, id)
	if err == nil {
		call.From(agent.Node, agent.Index, 0)
	}
	return agent.State, w.SettleRead(call, err, model.Seen{State: model.State(agent.State)})
}

// Finish asks once more for every agent.
func (l *Lifecycle) Finish(ctx context.Context, e *Env) error {
	w := e.worker(Load{Workload: l, Workers: 1}, 0)
	for _, id := range l.ids {
		call := w.Call("get", id, model.Ask{Do: "get"})
		agent, err := w.Client.Agent(ctx, id)
		if err == nil {
			call.From(agent.Node, agent.Index, 0)
		}
		w.SettleRead(call, err, model.Seen{State: model.State(agent.State)})
		if err != nil && codeIs(err) != "NOT_FOUND" {
			return fmt.Errorf("lifecycle: the agent %s cannot be read in the end: %w", id, err)
		}
	}
	return nil
}

func codeIs(err error) string {
	code, _ := codeOf(err)
	return code
}
