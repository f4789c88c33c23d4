package flows

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Limits of a definition, in bytes and entries.
const (
	MaxNameBytes   = 128
	MaxLabels      = 32
	MaxLabelBytes  = 128
	MaxEnv         = 64
	MaxEnvBytes    = 4096
	MaxReasonBytes = 256

	// DefaultEvaluator runs agents that name none.
	DefaultEvaluator = "std/1"
)

// Define decides an AgentDefine event: the agent exists from here on, DEFINED.
func Define(v View, cmd *event.Define, out *bus.Batch) (Target, *Refusal) {
	d, refusal := v.definition(cmd, "")
	if refusal != nil {
		return Target{}, refusal
	}
	d.add(v, out)
	return Target{No: d.no}, nil
}

// Lookup finds an evaluator by name and version (EX-9).
type Lookup func(name string) (evaluator.Evaluator, bool)

// CheckDefine holds the rules of a definition that need neither state nor a
// compiler; the door calls it, and CheckCompiles, before it proposes. field is
// prefixed to the names of fields.
func CheckDefine(cmd *event.Define, field string) *failure.Refusal {
	if r := checkTexts(cmd, field); r != nil {
		return r
	}
	if r := checkPairs(cmd.Labels, field+"labels", MaxLabels, MaxLabelBytes); r != nil {
		return r
	}
	if r := checkPairs(cmd.Env, field+"env", MaxEnv, MaxEnvBytes); r != nil {
		return r
	}
	for i := range cmd.Grants {
		if cmd.Grants[i].Effect == permissions.Escalate {
			return &failure.Refusal{Code: failure.InvalidArgument, Field: field + "grants", Rule: "ESCALATE has nobody to decide it in this version: use ALLOW or DENY"}
		}
	}
	return nil
}

// CheckCompiles holds the rules that take a compiler: grants and program. The
// kernel asks only about bodies that it does not know yet.
func CheckCompiles(cmd *event.Define, field string, lookup Lookup) *failure.Refusal {
	if r := checkGrants(cmd, field); r != nil {
		return r
	}
	return checkProgram(cmd, field, lookup)
}

func checkGrants(cmd *event.Define, field string) *failure.Refusal {
	_, r := permissions.Compile(cmd.Grants)
	if r != nil {
		r.Field = field + r.Field
	}
	return r
}

func checkProgram(cmd *event.Define, field string, lookup Lookup) *failure.Refusal {
	eval, ok := lookup(orDefault(cmd.Evaluator, DefaultEvaluator))
	if !ok {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field + "evaluator", Rule: "no such evaluator: std/1 is the one there is"}
	}
	if len(cmd.Program) == 0 {
		return nil
	}
	_, r := eval.Compile(cmd.Program)
	if r != nil {
		r.Field = field + r.Field
	}
	return r
}

func checkTexts(cmd *event.Define, field string) *failure.Refusal {
	bad := func(name, rule string) *failure.Refusal {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field + name, Rule: rule}
	}
	if cmd.ID != "" {
		if _, ok := ParseID(cmd.ID); !ok {
			return bad("id", "must be a lower-case UUID such as 018f4e5c-0000-7000-8000-000000000001, or empty")
		}
	}
	if len(cmd.Name) > MaxNameBytes || !printable(cmd.Name) {
		return bad("name", "must be at most 128 bytes of printable text")
	}
	switch cmd.Mode {
	case "", "task", "service":
	default:
		return bad("mode", "must be task or service")
	}
	return nil
}

func checkPairs(pairs map[string]string, field string, most, bytes int) *failure.Refusal {
	if len(pairs) > most {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: "has too many entries"}
	}
	for _, k := range slices.Sorted(maps.Keys(pairs)) {
		if k == "" || len(k) > MaxLabelBytes || !printable(k) {
			return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: "keys must be 1 to 128 bytes of printable text"}
		}
		if len(pairs[k]) > bytes || !utf8.ValidString(pairs[k]) {
			return &failure.Refusal{Code: failure.InvalidArgument, Field: field + "." + k, Rule: "the text is too long or not valid UTF-8"}
		}
	}
	return nil
}

func printable(s string) bool {
	for _, r := range s {
		if r < 0x20 || r == 0x7f || r == utf8.RuneError {
			return false
		}
	}
	return true
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// definition is a checked Define, with the numbers that its records will give.
type definition struct {
	no    uint32
	body  identity.Defined
	gains interning.Gained
}

func (v View) definition(cmd *event.Define, field string) (*definition, *Refusal) {
	if r := CheckDefine(cmd, field); r != nil {
		return nil, &Refusal{Refusal: *r}
	}
	if uint32(len(cmd.Program)) > v.Config.MaxProgramBytes {
		return nil, refuse(failure.InvalidProgram, field+"program", "the program is larger than the kernel's max_program_bytes")
	}
	d := &definition{no: v.Agents.Len() + 1}
	if d.no > v.Config.MaxAgents {
		return nil, refuse(failure.LimitReached, "", "the kernel holds as many agents as its max_agents allows")
	}
	d.body = identity.Defined{Name: cmd.Name, Evaluator: orDefault(cmd.Evaluator, DefaultEvaluator), Mode: identity.Task}
	if cmd.Mode == "service" {
		d.body.Mode = identity.Service
	}
	if cmd.ID == "" {
		d.body.ID = derived(v.kernelID(), uint64(d.no))
	} else {
		d.body.ID, _ = ParseID(cmd.ID)
	}
	if _, exists := v.Identity.Find(d.body.ID); exists {
		return nil, refuseHint(failure.AlreadyExists, field+"id", "an agent has this id already", "leave the id empty to have one made")
	}
	if refusal := d.intern(v, cmd, field); refusal != nil {
		return nil, refusal
	}
	return d, nil
}

func (v View) kernelID() [16]byte {
	sum := interning.DigestOf(0, []byte(v.Config.ClusterID+"/"+v.Config.KernelID))
	return [16]byte(sum[:16])
}

func (d *definition) intern(v View, cmd *event.Define, field string) *Refusal {
	var in interner
	programs := in.fresh
	if len(cmd.Program) > 0 {
		d.body.Program = in.add(v, interning.Program, ProgramBody(d.body.Evaluator, cmd.Program))
	}
	if in.fresh > programs || len(cmd.Program) == 0 {
		if r := checkProgram(cmd, field, v.Compiled.Evaluator); r != nil {
			return &Refusal{Refusal: *r}
		}
	}
	grants := in.fresh
	if len(cmd.Grants) > 0 {
		d.body.Grants = in.add(v, interning.Grants, event.Encode(cmd.Grants))
	}
	if in.fresh > grants {
		if r := checkGrants(cmd, field); r != nil {
			return &Refusal{Refusal: *r}
		}
	}
	if len(cmd.Labels) > 0 {
		d.body.Labels = in.add(v, interning.Labels, event.Encode(cmd.Labels))
	}
	if len(cmd.Env) > 0 {
		d.body.Env = in.add(v, interning.Env, event.Encode(cmd.Env))
	}
	d.gains = in.gains
	return in.room(v)
}

// interner collects what a command adds to the interned bodies.
type interner struct {
	gains interning.Gained
	bytes uint64
	fresh uint32
}

// add returns the number that the body has, or will have.
func (in *interner) add(v View, class interning.Class, body []byte) uint32 {
	if e, ok := v.Interned.Find(interning.DigestOf(class, body)); ok {
		in.gains.Entries = append(in.gains.Entries, interning.GainedEntry{No: e.No, Class: class})
		return e.No
	}
	in.fresh++
	in.bytes += uint64(len(body))
	no := v.Interned.Next + in.fresh
	in.gains.Entries = append(in.gains.Entries, interning.GainedEntry{No: no, Class: class, New: true, Body: body})
	return no
}

func (in *interner) room(v View) *Refusal {
	if v.Interned.Bytes+in.bytes > v.Config.MaxInternedBytes {
		return refuse(failure.LimitReached, "", "programs, grants, labels and environments would exceed the kernel's max_interned_bytes")
	}
	return nil
}

func (d *definition) add(v View, out *bus.Batch) {
	if len(d.gains.Entries) > 0 {
		out.Add(bus.Record{Kind: bus.Interned, Body: &d.gains})
	}
	out.Add(bus.Record{Kind: bus.AgentDefined, Agent: d.no, Body: &d.body})
}

// Start decides an AgentStart event: rows 0, 1 and 2 in one, all or nothing.
func Start(v View, cmd *event.Start, out *bus.Batch) (Target, *Refusal) {
	d, refusal := v.definition(&cmd.Define, "agent.")
	if refusal != nil {
		return Target{}, refusal
	}
	if d.body.Program == 0 {
		return Target{}, refuse(failure.NoInstruction, "agent.program", "an agent that starts at once needs a program")
	}
	if refusal := v.checkRun(cmd.Input, cmd.Reason); refusal != nil {
		return Target{}, refusal
	}
	if v.Running.Reserved >= v.Config.GlobalQueue {
		return Target{}, queueFull()
	}
	d.add(v, out)
	t := Target{No: d.no}
	why := cause{reason: cmd.Reason}
	v.spawn(t, d.body.Grants, lifecycle.Client, why, out)
	out.Add(instruction(t, d.body.Program, cmd.Input))
	out.Add(transition(t, lifecycle.Spawned, lifecycle.Activate, lifecycle.Client, why))
	return t, nil
}

func queueFull() *Refusal {
	return refuse(failure.QueueFull, "", "every place in the global queue is reserved: as many agents are alive as global_queue allows")
}

// checkRun holds the rules of what a client adds to a run.
func (v View) checkRun(input value.Raw, reason string) *Refusal {
	if len(reason) > MaxReasonBytes || !printable(reason) {
		return refuse(failure.InvalidArgument, "reason", "must be at most 256 bytes of printable text")
	}
	if len(input) == 0 {
		return nil
	}
	if p := value.Check(input, int(v.Config.MaxValueBytes)); p != nil {
		return refuse(failure.InvalidValue, "input"+p.Path, p.Rule)
	}
	return nil
}
