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
//  1. Start with a Context, or Resume with the checkpoint and the answer.
//  2. Count a step, record At, call Step, charge Result.Work. On
//     NextInstruction repeat this, at most maxStepsPerTick times (EX-6).
//  3. On PureValue or Failed forget the tick (EX-8). On NeedsTool keep
//     AppendCheckpoint's bytes and forget the tick.
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
//	CALL    {tool, args?, timeout_ms?, handle?} leaves the tick for a tool
//	RETURN  {value}, {do} or {}                ends the tick with a value
//	FAIL    {message, code?}                   ends the tick as PROGRAM_FAILED
//
// A program is compiled to an array of nodes in preorder. A tick is a small-step
// machine over it: a Step evaluates one instruction, and either goes into it or
// hands its value outwards until an instruction around it says what runs next.
// No Go recursion happens while running, and while compiling it is bounded by
// MaxNesting. A CALL takes two steps: it asks, and when the tick is resumed it
// is evaluated again and takes the answer.
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
