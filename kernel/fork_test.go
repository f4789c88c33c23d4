package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/memory"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// now is the moment after the last event.
func now(s *kerneltest.Sim, id string) *event.Fork {
	s.T.Helper()
	return moment(s, id, uint64(len(s.Log)))
}

func moment(s *kerneltest.Sim, id string, index uint64) *event.Fork {
	s.T.Helper()
	uuid, _ := flows.ParseID(id)
	no, _ := s.State().Find(uuid)
	f, err := s.Moment(no, index).Fork()
	require.NoError(s.T, err)
	return f
}

// forked commits the fork and gives its id.
func forked(s *kerneltest.Sim, f *event.Fork) string {
	s.T.Helper()
	return kerneltest.IDOf(s.Must(event.AgentFork, f).Agent)
}

// askedOf lists what the agent's tools were asked, in order of asking.
func askedOf(s *kerneltest.Sim, id string) (asked []string) {
	uuid, _ := flows.ParseID(id)
	no, _ := s.State().Find(uuid)
	for _, r := range s.All() {
		if b, ok := r.Content.(*tools.RequestedBody); ok && r.Agent == no {
			asked = append(asked, string(b.Args.AppendJSON(nil)))
		}
	}
	return asked
}

var twice = inSeq(
	`{"kind":"WRITE","payload":{"key":"step","value":"begun"}}`,
	letDo("a", `{"kind":"CALL","payload":{"tool":"echo","args":{"call":1}}}`),
	letDo("b", `{"kind":"CALL","payload":{"tool":"echo","args":{"call":2,"after":"${a}"}}}`),
	letDo("step", `{"kind":"READ","payload":{"key":"step"}}`),
	giving(`["${a}","${b}","${step}","${agent.tick_seq}"]`),
)

// LO-13: a fork is a new root agent with a token of its own, by rows 0, 1 and 2.
// It has what the other had at the point: its tick, with the answers on record, its
// memory with its versions, its messages, its instructions. Its records say where
// it comes from, and the other is as it was.
func TestForkGoesOnFromThePoint(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := startFreely(s, "service", twice)
	s.Answer(true, "one")
	s.Must(event.AgentSubmit, event.Submit{Agent: id, Input: kerneltest.Value(t, 5)})
	s.Send(id, "hello")
	f := now(s, id)
	point := s.Row(id)
	s.Answer(true, "two") // the source goes on
	before := kerneltest.Substance(s.State())
	was := *s.Row(id)
	require.NotEqual(t, [32]byte{}, before)

	fork := forked(s, f)
	row := s.Row(fork)
	assert.Equal(t, lifecycle.Waiting, row.Lifecycle.State)
	assert.EqualValues(t, 3, row.Lifecycle.Count, "DEFINED, SPAWNED, ACTIVE, and its wait")
	assert.Zero(t, row.Delegation.Parent)
	assert.NotZero(t, row.Delegation.Token)
	assert.Equal(t, &identity.Origin{ID: was.Identity.ID, Seq: f.At, Head: point.Head}, row.Identity.Origin)
	assert.Equal(t, point.Execution.Queue, row.Execution.Queue)
	assert.Equal(t, point.Mailbox.Messages, row.Mailbox.Messages)
	assert.Equal(t, point.Execution.Current.Checkpoint, row.Execution.Current.Checkpoint)
	uuid, _ := flows.ParseID(fork)
	no, _ := s.State().Find(uuid)
	assert.Equal(t, f.Memory[0].Version, s.State().Memory.Get(no, "step").Version, "what the tick compares with is still there")
	assert.Equal(t, was.LastBlock, s.Row(id).LastBlock, "nothing is recorded of the source")

	s.Answer(true, "two again") // the source's second instruction
	s.Result(pendingOf(s, fork), true, "other")
	require.JSONEq(t, `["one","other","begun",1]`, jsonOf(s, fork))
	require.Equal(t, []string{`{"call":2,"after":"one"}`, `{"call":1}`}, askedOf(s, fork), "the answered call is not made again")
	s.Check()
}

// pendingOf is the call that an agent waits for.
func pendingOf(s *kerneltest.Sim, id string) (key tools.Key) {
	s.T.Helper()
	uuid, _ := flows.ParseID(id)
	no, _ := s.State().Find(uuid)
	st := s.State()
	st.Tools.OfAgent(no, func(c *tools.Call) bool {
		key = c.Key
		return false
	})
	require.NotZero(s.T, key)
	return key
}

// LO-13: memory can be set to be otherwise; recovery keeps to that too.
func TestForkWithOtherMemory(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", inSeq(
		`{"kind":"WRITE","payload":{"key":"k","value":"mine"}}`,
		`{"kind":"CALL","payload":{"tool":"echo"}}`,
		giving(`"${1 / 0}"`),
	))
	f := now(s, id)
	f.Set = []event.ForkSet{{Key: "k", Value: kerneltest.Value(t, "set")}, {Key: "new", Value: kerneltest.Value(t, 1)}}
	fork := forked(s, f)
	uuid, _ := flows.ParseID(fork)
	no, _ := s.State().Find(uuid)
	for _, key := range []string{"k", "new"} {
		e := s.State().Memory.Get(no, key)
		require.NotNil(t, e)
		require.EqualValues(t, bus.MemoryForked, recordAt(s, e.Version).Kind, "%s has the busSeq of its record", key)
	}
	require.Equal(t, kerneltest.Value(t, "set"), s.State().Memory.Get(no, "k").Value)
	f.Undo = []event.ForkEntry{{Key: "k", Missing: true}, {Key: "gone", Missing: true}}
	require.Equal(t, []memory.Before{{Key: "gone"}}, s.Row(forked(s, f)).Memory.Undo.Entries, "what is set is not put back")
	require.Equal(t, kerneltest.Value(t, "mine"), s.State().Memory.Get(1, "k").Value)
	s.Check()
}

func recordAt(s *kerneltest.Sim, seq uint64) kerneltest.Record {
	for _, r := range s.All() {
		if r.Seq == seq {
			return r
		}
	}
	s.T.Errorf("no record %d", seq)
	return kerneltest.Record{}
}

// LO-14: what was open at the point is judged anew, under the grants of the fork;
// what was answered is not asked for again.
func TestForkAsksAnewForWhatWasOpen(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", `{"kind":"PARALLEL","payload":{"calls":[
		{"tool":"echo","args":1,"handle":true},{"tool":"http.request","args":{"url":"http://h/x"},"handle":true},{"tool":"echo","args":3,"handle":true}]}}`)
	s.Answer(true, "one")
	for _, test := range []struct {
		grants []permissions.Grant
		asked  int
	}{{nil, 0}, {freely, 2}, {[]permissions.Grant{{Effect: permissions.Allow, Action: "tool.call", Resource: "echo"}}, 1}} {
		f := now(s, id)
		f.Define.Grants = test.grants
		fork := forked(s, f)
		require.Len(t, askedOf(s, fork), test.asked)
		for range test.asked {
			s.Result(pendingOf(s, fork), true, "later")
		}
		if test.grants == nil {
			require.Regexp(t, `one.*PERMISSION_DENIED.*PERMISSION_DENIED`, jsonOf(s, fork))
		}
		require.Nil(t, s.Row(fork).Execution.Current, "its tick is over")
	}
	s.Check()
}

// LO-14: children are not copied: whoever waited for them is told so, whether it
// waits, or was just asked to decide about what one of them wants.
func TestForkHasNoChildren(t *testing.T) {
	for name, program := range map[string]string{
		"waits": `{"kind":"DELEGATE","payload":{"children":[{"program":` + callEcho + `,"grants":[` + allowEcho + `]}]}}`,
	} {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", `{"kind":"TRY","payload":{"do":`+program+`,"catch":[{"codes":["WITHDRAWN"],"as":"e","do":`+giving(`"${e.message}"`)+`}]}}`)
		require.Equal(t, lifecycle.Waiting, s.StateOf(id), name)
		fork := forked(s, now(s, id))
		require.JSONEq(t, `"the agent is a fork, and has none of the children that this request made"`, jsonOf(s, fork), name)
		require.EqualValues(t, 3, s.State().Agents.Len(), name)
		s.Answer(true, 1)
		s.Check()
	}
}

// LO-14: a wait for a time, or for a message, begins again.
func TestForkWaitsAgain(t *testing.T) {
	s := kerneltest.New(t, 1)
	sleeper := startFreely(s, "service", `{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":1000}}}`)
	receiver := startFreely(s, "service", `{"kind":"RECEIVE","payload":{}}`)
	s.Wall += 900
	s.Pulse()
	late, hears := forked(s, now(s, sleeper)), forked(s, now(s, receiver))
	s.Wall += 200
	s.Pulse()
	require.Equal(t, lifecycle.Active, s.StateOf(sleeper))
	require.Equal(t, lifecycle.Waiting, s.StateOf(late))
	s.Wall += 900
	s.Pulse()
	require.Equal(t, lifecycle.Active, s.StateOf(late))
	s.Send(hears, "to the fork")
	require.JSONEq(t, `"to the fork"`, jsonOf(s, hears))
	require.Equal(t, lifecycle.Waiting, s.StateOf(receiver))
	s.Check()
}

// LO-13: of a FAULTED agent the tick goes back to its recovery checkpoint, and its
// memory with it (FA-1); one that ended has what it remembers, and needs something
// to do; a suspended one, and its fork is ACTIVE.
func TestForkOfAgentsThatDoNotRun(t *testing.T) {
	s := kerneltest.New(t, 1)
	program := inSeq(
		`{"kind":"WRITE","payload":{"key":"k","value":1}}`,
		letDo("a", `{"kind":"CALL","payload":{"tool":"echo"}}`),
		`{"kind":"WRITE","payload":{"key":"k","value":2}}`,
		giving(`"${1 // a}"`),
	)
	id := startFreely(s, "task", program)
	s.Answer(true, 0)
	require.Equal(t, lifecycle.Faulted, s.StateOf(id))
	fork := forked(s, now(s, id))
	require.Equal(t, lifecycle.Faulted, s.StateOf(fork), "the same answer, the same failure")
	require.Equal(t, s.Row(id).Execution.Result.Code, s.Row(fork).Execution.Result.Code)

	idle := startFreely(s, "task", giving(`7`))
	require.Equal(t, lifecycle.Terminated, s.StateOf(idle))
	f := now(s, idle)
	outcome := s.Command(event.AgentFork, f)
	require.Equal(t, failure.NoInstruction, outcome.Refusal.Code)
	require.Contains(t, outcome.Refusal.Hint, "give the fork a program")
	f.Submit = &event.ForkInstruction{Input: kerneltest.Value(t, 1)}
	again := forked(s, f)
	require.Equal(t, lifecycle.Terminated, s.StateOf(again))

	asleep := startFreely(s, "service", callEcho)
	s.Answer(true, 1)
	s.Trigger(asleep, "suspend")
	require.Equal(t, lifecycle.Resumable, s.StateOf(asleep))
	require.Equal(t, lifecycle.Active, s.StateOf(forked(s, now(s, asleep))))
	s.Check()
}

// LO-13: whose bodies are gone, and who was not there yet, cannot be forked.
func TestForkNeedsAMoment(t *testing.T) {
	s := kerneltest.New(t, 1)
	_, err := s.Moment(1, 1).Fork()
	require.ErrorIs(t, err, kernel.ErrNoMoment)
	id := startFreely(s, "task", giving(`7`))
	s.Wall += s.State().Config.RetentionMillis + 1
	s.Pulse()
	require.True(t, s.Row(id).Identity.Archived)
	_, err = s.Moment(1, uint64(len(s.Log))).Fork()
	require.ErrorIs(t, err, kernel.ErrNoMoment)
	_ = moment(s, id, 2)
}

// LO-15: an image is held to the limits of any agent before anything is
// published, and a refusal names what is wrong.
func TestForkImagesAreChecked(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) {
		c.MaxMemoryKeys, c.MaxMailbox, c.InstructionQueue, c.MaxCheckpointBytes, c.MaxValueBytes = 2, 2, 2, 2000, 1000
	})
	id := startFreely(s, "service", twice)
	whole := func() *event.Fork { return now(s, id) }
	digest := kerneltest.Substance(s.State())
	one, bad := kerneltest.Value(t, 1), value.Raw{0xff}
	for name, test := range map[string]struct {
		change func(f *event.Fork)
		code   failure.Code
		field  string
	}{
		"unknown source": {func(f *event.Fork) { f.Source = kerneltest.AgentID(99) }, failure.NotFound, "agent"},
		"future":         {func(f *event.Fork) { f.At += 1000 }, failure.InvalidArgument, "at"},
		"past":           {func(f *event.Fork) { f.At = 1 }, failure.InvalidArgument, "at"},
		"id":             {func(f *event.Fork) { f.Define.ID = f.Source }, failure.AlreadyExists, "agent.id"},
		"grants":         {func(f *event.Fork) { f.Define.Grants = []permissions.Grant{{Effect: 1}} }, failure.InvalidArgument, "agent.grants[0].action"},
		"message":        {func(f *event.Fork) { f.Messages = []value.Raw{one, bad} }, failure.InvalidValue, "messages[1]"},
		"messages":       {func(f *event.Fork) { f.Messages = []value.Raw{one, one, one} }, failure.QueueFull, "messages"},
		"queue":          {func(f *event.Fork) { f.Queue = make([]event.ForkInstruction, 3) }, failure.QueueFull, "queue"},
		"program":        {func(f *event.Fork) { f.Queue = []event.ForkInstruction{{Program: one}} }, failure.InvalidProgram, "queue[0].program"},
		"input":          {func(f *event.Fork) { f.Submit = &event.ForkInstruction{Input: bad} }, failure.InvalidValue, "input"},
		"no program":     {func(f *event.Fork) { f.Define.Program = nil }, failure.NoInstruction, "tick.program"},
		"set":            {func(f *event.Fork) { f.Set = []event.ForkSet{{Key: "a//b", Value: one}} }, failure.InvalidArgument, "set.a//b"},
		"set twice":      {func(f *event.Fork) { f.Set = []event.ForkSet{{Key: "a", Value: one}, {Key: "a", Value: one}} }, failure.InvalidArgument, "set.a"},
		"set value":      {func(f *event.Fork) { f.Set = []event.ForkSet{{Key: "a", Value: bad}} }, failure.InvalidValue, "set.a"},
		"memory": {func(f *event.Fork) {
			f.Set = []event.ForkSet{{Key: "a", Value: one}, {Key: "b", Value: one}}
		}, failure.MemoryFull, "memory"},
		"version":      {func(f *event.Fork) { f.Memory[0].Version = f.At + 1 }, failure.InvalidArgument, "memory.step"},
		"writer":       {func(f *event.Fork) { f.Memory[0].Writer = 9 }, failure.InvalidArgument, "memory.step"},
		"missing":      {func(f *event.Fork) { f.Memory[0].Missing = true }, failure.InvalidArgument, "memory.step"},
		"key twice":    {func(f *event.Fork) { f.Memory = append(f.Memory, f.Memory[0]) }, failure.InvalidArgument, "memory.step"},
		"undo":         {func(f *event.Fork) { f.Undo, f.Tick = f.Memory, nil }, failure.InvalidArgument, "undo"},
		"no last tick": {func(f *event.Fork) { f.LastTick = 0 }, failure.InvalidArgument, "last_tick"},
		"steps":        {func(f *event.Fork) { f.Tick.Steps = 1 << 30 }, failure.InvalidArgument, "tick"},
		"runs":         {func(f *event.Fork) { f.Tick.Runs = 0 }, failure.InvalidArgument, "tick"},
		"checkpoint":   {func(f *event.Fork) { f.Tick.Checkpoint = make([]byte, 2001) }, failure.ValueTooLarge, "tick.checkpoint"},
		"tick's input": {func(f *event.Fork) { f.Tick.Input = bad }, failure.InvalidValue, "tick.input"},
		"phase":        {func(f *event.Fork) { f.Tick.Phase = uint8(execution.Running) }, failure.InvalidArgument, "tick"},
		"no requests":  {func(f *event.Fork) { f.Tick.Requests = nil }, failure.InvalidArgument, "tick"},
		"call 0":       {func(f *event.Fork) { f.Tick.First = 0 }, failure.InvalidArgument, "tick"},
		"far call":     {func(f *event.Fork) { f.Tick.First = 1 << 31 }, failure.InvalidArgument, "tick"},
		"args":         {func(f *event.Fork) { f.Tick.Requests[0].Args = bad }, failure.InvalidValue, "tick.requests[0].args"},
		"answer":       {func(f *event.Fork) { f.Tick.Requests[0].Answer = &event.ForkAnswer{} }, failure.InvalidArgument, "tick.requests[0].answer"},
	} {
		f := whole()
		test.change(f)
		outcome := s.Command(event.AgentFork, f)
		assert.Equal(t, test.code, outcome.Refusal.Code, "%s: %+v", name, outcome.Refusal)
		assert.Equal(t, test.field, outcome.Refusal.Field, "%s: %+v", name, outcome.Refusal)
		assert.Equal(t, digest, kerneltest.Substance(s.State()), name)
	}
	s.Check()
}

// LO-15: a checkpoint that no evaluator takes back is its tick's failure, on
// record.
func TestForkWithACheckpointThatIsNone(t *testing.T) {
	s := kerneltest.New(t, 2)
	id := startFreely(s, "service", twice)
	f := now(s, id)
	f.Tick.Checkpoint = []byte("no checkpoint at all")
	fork := forked(s, f)
	s.Result(pendingOf(s, fork), true, 1)
	require.Equal(t, lifecycle.Faulted, s.StateOf(fork))
	require.Equal(t, failure.CheckpointInvalid, s.Row(fork).Execution.Result.Code)
	s.Check()
}

// LO-13: a fork's blocks are all that it takes to fold it, and to fork it again.
func TestForkOfAFork(t *testing.T) {
	s := kerneltest.New(t, 1)
	id := startFreely(s, "service", twice)
	s.Answer(true, "one")
	first := forked(s, now(s, id))
	second := forked(s, now(s, first))
	s.Result(pendingOf(s, second), true, "two")
	require.JSONEq(t, `["one","two","begun",1]`, jsonOf(s, second))
	s.Check()
}

// deeds are what a program of TestForksDoWhatTheirSourcesDid is made of: none of
// them depends on time, or on who the agent is.
var deeds = [...]string{
	`{"kind":"CALL","payload":{"tool":"echo","args":%d,"handle":true}}`,
	`{"kind":"CALL","payload":{"tool":"echo","args":["${x}",%d]}}`,
	`{"kind":"WRITE","payload":{"key":"k","value":["${x}",%d]}}`,
	`{"kind":"READ","payload":{"key":"k","default":%d}}`,
	`{"kind":"CALL","payload":{"tool":"memory.write","args":{"key":"k","value":%d,"version":0},"handle":true}}`,
	`{"kind":"CALL","payload":{"tool":"memory.delete","args":{"key":"k"},"handle":true}}`,
	`{"kind":"EMIT","payload":{"value":["${x}",%d]}}`,
	`{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","args":1,"handle":true},{"tool":"echo","args":%d,"handle":true}]}}`,
	`{"kind":"RECEIVE","payload":{"handle":true}}`,
	`{"kind":"MAP","payload":{"over":[1,2],"as":"i","do":{"kind":"CALL","payload":{"tool":"echo","args":["${i}",%d],"handle":true}}}}`,
	`{"kind":"LITERAL","payload":{"value":"${1 // (%d %% 7)}"}}`,
}

func drawDeeds(t *rapid.T) string {
	var steps []string
	for i := range rapid.IntRange(1, 8).Draw(t, "deeds") {
		deed := rapid.SampledFrom(deeds[:]).Draw(t, "deed")
		if strings.Contains(deed, "%") {
			deed = fmt.Sprintf(deed, i+1)
		}
		if !strings.Contains(strings.ToLower(deed), "write") { // whose answer is a version: a place in the log
			deed = letDo("x", deed)
		}
		steps = append(steps, deed)
	}
	return inSeq(append([]string{letDo("x", giving(`0`))}, append(steps, giving(`"${x}"`))...)...)
}

// answered is what the tools say: it depends on what they are asked alone. A
// tick that is put back asks again, under another number.
func answered(s *kerneltest.Sim, key tools.Key, args value.Raw) {
	if len(args)%5 == 4 {
		s.Result(key, false, "TOOL_FAILED")
		return
	}
	s.Result(key, true, "of "+string(args.AppendJSON(nil)))
}

// LO-13: wherever an agent's history is forked, with the same results the fork
// comes to what the agent came to.
func TestForksDoWhatTheirSourcesDid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := kerneltest.New(t, 1)
		id := startFreely(s, "service", drawDeeds(t))
		for range rapid.IntRange(0, 2).Draw(t, "more") {
			s.Command(event.AgentSubmit, event.Submit{Agent: id, Program: kerneltest.JSON(t, drawDeeds(t))})
		}
		for i := range rapid.IntRange(4, 9).Draw(t, "messages") {
			s.Send(id, i)
		}
		run := func(no uint32) {
			for range 200 {
				var next *tools.Call
				st := s.State()
				st.Tools.OfAgent(no, func(c *tools.Call) bool {
					next = c
					return false
				})
				if next == nil {
					return
				}
				answered(s, next.Key, next.Args)
			}
		}
		begun := uint64(len(s.Log))
		run(1)
		point := rapid.Uint64Range(begun, uint64(len(s.Log))).Draw(t, "point")
		f := moment(s, id, point)
		fork := forked(s, f)
		no := s.State().Agents.Len()
		run(no)
		if f.Tick != nil && execution.Phase(f.Tick.Phase) == execution.Restored {
			s.Check() // what the failed tick did after its checkpoint, it does again (FA-1)
			return
		}
		source, row := s.Row(id), s.Row(fork)
		require.Equal(t, source.Lifecycle.State, row.Lifecycle.State)
		require.Equal(t, source.Lifecycle.Code, row.Lifecycle.Code)
		require.Equal(t, source.Execution.LastTick, row.Execution.LastTick)
		require.Equal(t, source.Execution.Emitted, row.Execution.Emitted)
		require.Equal(t, source.Mailbox, row.Mailbox)
		if row.Execution.Result != nil { // of the ticks before the point it has none
			require.Equal(t, source.Execution.Result, row.Execution.Result)
		}
		kept := func(no uint32) (all []string) {
			st := s.State()
			st.Memory.List(no, "", "", 100, func(e *memory.Entry) bool {
				all = append(all, e.Key+"="+string(e.Value.AppendJSON(nil)))
				return true
			})
			return all
		}
		require.Equal(t, kept(1), kept(no))
		s.Check()
	})
}
