package flows

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/identity"
	"github.com/omnikernel/omnikernel/kernel/interning"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/logging"
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
	MaxInputBytes  = 64 << 10 // of the schema of an input

	// DefaultEvaluator runs agents that name none.
	DefaultEvaluator = "std/1"
)

// Define decides an AgentDefine event: the agent exists from here on, DEFINED.
func Define(v View, cmd *event.Define, out *bus.Batch) (Target, *Refusal) {
	d, refusal := v.definition(cmd, "")
	if refusal != nil {
		return Target{}, refusal
	}
	d.publish(out)
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
	if r := checkInput(cmd, field); r != nil {
		return r
	}
	return checkBudget(cmd.Budget, field+"budget")
}

// checkInput holds the schema of an input to the value model, and to the form of a
// schema. What it says is the door's to judge by: here it is kept (EX-14).
func checkInput(cmd *event.Define, field string) *failure.Refusal {
	if len(cmd.Input) == 0 {
		return nil
	}
	if p := value.Check(cmd.Input, MaxInputBytes); p != nil {
		return &failure.Refusal{Code: failure.InvalidValue, Field: field + value.JoinKey("input", p.Path), Rule: p.Rule}
	}
	bad := &failure.Refusal{Code: failure.InvalidArgument, Field: field + "input"}
	rd := value.NewReader(cmd.Input)
	switch kind := rd.Kind(); {
	case kind != value.MapKind && kind != value.BoolKind:
		bad.Rule, bad.Hint = "must be a JSON Schema: an object, true or false", "what an agent begins with is given when it is started, not in its definition"
	case len(cmd.Program) == 0:
		bad.Rule = "is the schema of what the agent's own program takes, and it has none"
	default:
		return nil
	}
	return bad
}

// CheckCompiles holds the rules that take a compiler: grants and program. The
// kernel asks only about bodies that it does not know yet.
func CheckCompiles(cmd *event.Define, field string, lookup Lookup) *failure.Refusal {
	if r := checkGrants(cmd, field); r != nil {
		return r
	}
	if r := checkProgram(cmd.Evaluator, cmd.Program, field+"program", field, lookup); r != nil {
		return r
	}
	return checkProgram(cmd.Evaluator, cmd.Teardown, field+"teardown", field, lookup)
}

func checkGrants(cmd *event.Define, field string) *failure.Refusal {
	_, r := permissions.Compile(cmd.Grants)
	if r != nil {
		r.Field = field + r.Field
	}
	return r
}

// checkProgram compiles. The evaluator's refusals begin at `program`; the path
// says which program it is here.
func checkProgram(name string, program value.Raw, path, field string, lookup Lookup) *failure.Refusal {
	eval, ok := lookup(orDefault(name, DefaultEvaluator))
	if !ok {
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field + "evaluator", Rule: "no such evaluator: std/1 is the one there is"}
	}
	if len(program) == 0 {
		return nil
	}
	_, r := eval.Compile(program)
	if r != nil {
		r.Field = path + strings.TrimPrefix(r.Field, "program")
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
	worst, found := "", false
	//lint:ordered the smallest key that breaks a rule is named, whichever comes first
	for k, text := range pairs {
		if !validKey(k) || !validText(text, bytes) {
			if !found || k < worst {
				worst, found = k, true
			}
		}
	}
	switch {
	case !found:
		return nil
	case !validKey(worst):
		return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: "keys must be 1 to 128 bytes of printable text"}
	}
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field + "." + worst, Rule: "the text is too long or not valid UTF-8"}
}

func validKey(k string) bool { return k != "" && len(k) <= MaxLabelBytes && printable(k) }

func validText(s string, most int) bool { return len(s) <= most && utf8.ValidString(s) }

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
	token token

	account *budgets.Opened // nil for an agent that holds none

	gains interning.Gained
	first [6]interning.GainedEntry // where gains begins: no definition adds more
}

// token is what an agent's first token will say (DE-1).
type token struct {
	depth uint32
	ttl   int64 // milliseconds after spawn; 0 for ever
}

// definer checks definitions that are to be made in one event, one after the
// other: each counts on what the ones before it will have added.
type definer struct {
	v    View
	next uint32 // the number of the next agent
	in   interner
}

func (v View) definer() *definer { return &definer{v: v, next: v.Agents.Len() + 1} }

// definition checks a client's Define.
func (v View) definition(cmd *event.Define, field string) (*definition, *Refusal) {
	df := v.definer()
	var otherwise identity.ID
	if cmd.ID == "" {
		otherwise = derived(v.kernelID(), uint64(df.next))
	}
	d, refusal := df.define(cmd, field, otherwise)
	if refusal != nil {
		return nil, refusal
	}
	return d, df.room()
}

// define checks one definition; otherwise is the agent's id if it names none.
func (df *definer) define(cmd *event.Define, field string, otherwise identity.ID) (*definition, *Refusal) {
	v := df.v
	if r := CheckDefine(cmd, field); r != nil {
		return nil, &Refusal{Refusal: *r}
	}
	for _, program := range [...]struct {
		name string
		raw  value.Raw
	}{{"program", cmd.Program}, {"teardown", cmd.Teardown}} {
		if uint32(len(program.raw)) > v.Config.MaxProgramBytes {
			return nil, refuse(failure.InvalidProgram, field+program.name, "the program is larger than the kernel's max_program_bytes")
		}
	}
	if cmd.MaxDepth > v.Config.MaxDepth {
		return nil, refuse(failure.InvalidArgument, field+"max_depth", "is more than the kernel's max_depth")
	}
	if cmd.TTLMillis < 0 || cmd.TTLMillis > v.Config.MaxWaitMillis {
		return nil, refuse(failure.InvalidArgument, field+"ttl_ms", "must be from 0 to the kernel's max_wait_ms")
	}
	d := &definition{no: df.next, token: token{depth: cmd.MaxDepth, ttl: cmd.TTLMillis}}
	if d.no > v.Config.MaxAgents {
		return nil, refuse(failure.LimitReached, "", "the kernel holds as many agents as its max_agents allows")
	}
	if d.token.depth == 0 {
		d.token.depth = v.Config.MaxDepth
	}
	d.body = identity.Defined{
		Name: cmd.Name, Evaluator: orDefault(cmd.Evaluator, DefaultEvaluator), Mode: identity.Task,
		MaxDepth: d.token.depth, TTLMillis: d.token.ttl,
	}
	if cmd.Mode == "service" {
		d.body.Mode = identity.Service
	}
	d.body.ID = otherwise
	if cmd.ID != "" {
		d.body.ID, _ = ParseID(cmd.ID)
	}
	if _, exists := v.Identity.Find(d.body.ID); exists {
		return nil, refuseHint(failure.AlreadyExists, field+"id", "an agent has this id already", "leave the id empty to have one made")
	}
	if refusal := df.intern(d, cmd, field); refusal != nil {
		return nil, refusal
	}
	if cmd.Budget != nil {
		d.account = &budgets.Opened{Limits: limitsOf(cmd.Budget)}
	}
	df.next++
	return d, nil
}

func (v View) kernelID() [16]byte {
	var room [256]byte
	name := append(append(append(room[:0], v.Config.ClusterID...), '/'), v.Config.KernelID...)
	sum := interning.DigestOf(0, name)
	return [16]byte(sum[:16])
}

// typicalBody is room for most interned bodies while they are looked up: a body
// that is known already takes no memory of its own.
type typicalBody [512]byte

func (df *definer) intern(d *definition, cmd *event.Define, field string) *Refusal {
	v, in := df.v, &df.in
	d.gains.Entries = d.first[:0]
	in.gains = &d.gains
	var room typicalBody
	for _, program := range [...]struct {
		name string
		raw  value.Raw
		into *uint32
	}{{"program", cmd.Program, &d.body.Program}, {"teardown", cmd.Teardown, &d.body.Teardown}} {
		before := in.fresh
		if len(program.raw) > 0 {
			*program.into = in.add(v, interning.Program, AppendProgramBody(room[:0], d.body.Evaluator, program.raw))
		}
		if in.fresh > before || len(program.raw) == 0 && program.name == "program" {
			if r := checkProgram(d.body.Evaluator, program.raw, field+program.name, field, v.Compiled.Evaluator); r != nil {
				return &Refusal{Refusal: *r}
			}
		}
	}
	programs := in.fresh
	if len(cmd.Grants) > 0 {
		d.body.Grants = in.add(v, interning.Grants, event.AppendGrants(room[:0], cmd.Grants))
	}
	if in.fresh > programs {
		if r := checkGrants(cmd, field); r != nil {
			return &Refusal{Refusal: *r}
		}
	}
	if len(cmd.Labels) > 0 {
		d.body.Labels = in.add(v, interning.Labels, event.AppendPairs(room[:0], cmd.Labels))
	}
	if len(cmd.Env) > 0 {
		d.body.Env = in.add(v, interning.Env, event.AppendPairs(room[:0], cmd.Env))
	}
	if len(cmd.Input) > 0 {
		d.body.Input = in.add(v, interning.Input, cmd.Input)
	}
	return nil
}

// room reports whether the interned bodies have room for all of it.
func (df *definer) room() *Refusal { return df.in.room(df.v) }

// interner collects what a command adds to the interned bodies.
type interner struct {
	gains *interning.Gained
	bytes uint64
	fresh uint32
	made  map[interning.Digest]uint32 // by definitions before, where one command has several
}

// add returns the number that the body has, or will have. It keeps a copy of a
// body that is new.
func (in *interner) add(v View, class interning.Class, body []byte) uint32 {
	digest := interning.DigestOf(class, body)
	if e, ok := v.Interned.Find(digest); ok {
		in.gains.Entries = append(in.gains.Entries, interning.GainedEntry{No: e.No, Class: class, Block: e.Block})
		return e.No
	}
	if no, ok := in.made[digest]; ok {
		in.gains.Entries = append(in.gains.Entries, interning.GainedEntry{No: no, Class: class, Block: logging.PointerTo(v.Log.Position)})
		return no
	}
	in.fresh++
	in.bytes += uint64(len(body))
	no := v.Interned.Next + in.fresh
	if in.made != nil {
		in.made[digest] = no
	}
	in.gains.Entries = append(in.gains.Entries, interning.GainedEntry{No: no, Class: class, New: true, Body: slices.Clone(body)})
	return no
}

func (in *interner) room(v View) *Refusal {
	if v.Interned.Bytes+in.bytes > v.Config.MaxInternedBytes {
		return refuse(failure.LimitReached, "", "programs, schemas, grants, labels and environments would exceed the kernel's max_interned_bytes")
	}
	return nil
}

func (d *definition) publish(out *bus.Batch) {
	if len(d.gains.Entries) > 0 {
		out.Add(bus.Record{Kind: bus.Interned, Body: &d.gains})
	}
	out.Add(bus.Record{Kind: bus.AgentDefined, Agent: d.no, Body: &d.body})
	if d.account != nil {
		out.Add(bus.Record{Kind: bus.BudgetOpened, Agent: d.no, Body: d.account})
	}
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
	d.publish(out)
	t := Target{No: d.no}
	why := cause{reason: cmd.Reason}
	v.spawn(t, &d.body, lifecycle.Client, why, out)
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
		return refuse(failure.InvalidValue, value.JoinKey("input", p.Path), p.Rule)
	}
	return nil
}
