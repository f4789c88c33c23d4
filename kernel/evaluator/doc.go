// Package evaluator runs agents' programs: the boundary that the execution loop
// knows (Evaluator, Program, Tick; EX-9), and std/1, the instruction set that
// the kernel brings along.
//
// # Who calls it, in which order
//
// The door compiles a program to refuse it early; Apply compiles it once per
// digest and keeps the Program as a cache. For a tick the execution flow then
// does, in Apply:
//
//  1. Start with a Context, or Resume with the checkpoint and a Delivery.
//  2. Count a step, record At, call Step, charge Result.Work, record
//     Result.Emits if there are any. On NextInstruction repeat this, at most
//     maxStepsPerTick times (EX-6).
//  3. On PureValue or Failed forget the tick (EX-8). On NeedsTool and
//     NeedsDecision keep AppendCheckpoint's bytes and forget the tick: it waits
//     for the answers to Result.Calls; after a decision for the same answers as
//     before.
//
// One goroutine uses a Tick. A Program may be used by several.
//
// # std/1
//
// An instruction is a map {kind, payload}. Every string inside a payload's data
// may hold ${expression} (package expr). The kinds, their fields, and what can
// go wrong are described in docs/instructions.md:
//
//	LITERAL {value}                            a value
//	LET     {name, value} or {name, do}        binds a variable of the tick
//	SEQ     {steps}                            one after the other; the last one's value
//	BRANCH  {if, then, else?}                  if is a boolean, nothing else
//	MAP     {over, as, index?, do}             a list of results, in order
//	LOOP    {max, while?, index?, do}          again and again; the last round's value
//	TRY     {do, catch: [{codes?, as?, do}]}   goes on after a failure
//	RETURN  {value}, {do} or {}                ends the tick with a value
//	FAIL    {message, code?}                   fails as PROGRAM_FAILED
//	CALL    {tool, args?, timeout_ms?, handle?} leaves the tick for a tool
//	PARALLEL {calls}                           … for several tools at once
//	READ    {key, agent?, namespace?, default?, handle?}  memory.read, shared.read
//	WRITE   {key, value, version?, handle?}    memory.write
//	SHARE   {namespace, key, value, version?, handle?}  shared.write
//	WAIT    {ms}                               timer.sleep
//	RECEIVE {timeout_ms?, handle?}             mailbox.receive
//	EMIT    {value}                            publishes a value, and goes on
//	DELEGATE {children, fail_fast?, timeout_ms?, detach?, handle?, on_escalation?}
//	                                           agent.delegate
//
// A program is compiled to an array of nodes in preorder. A tick is a small-step
// machine over it: a Step evaluates one instruction, and either goes into it or
// hands its value outwards until an instruction around it says what runs next.
// No Go recursion happens while running, and while compiling it is bounded by
// MaxNesting, and MaxGenerations for the programs of children. What leaves the
// tick takes two steps: it asks, and when the tick is resumed it is evaluated
// again and takes the answer. A LOOP is a step before each round.
//
// A failure goes outwards until a TRY catches it (raise.go); frames on the way
// are unwound. While a DELEGATE waits it may be resumed with an Escalation: its
// handler runs as part of the tick, may leave it with calls of its own, and ends
// in NeedsDecision, whatever fails in it.
//
// # What it never does
//
// It reads no clock, no randomness, no files and no network (EX-11, INV-20):
// what a program wants from outside leaves the tick as a Call, and nothing is
// decided here about whether it may be made. It changes nothing that it was
// given, keeps nothing between ticks, and never panics out of Step, Resume or
// Compile. Texts in failures are its own or the program's, never a library's
// (EV-13).
package evaluator
