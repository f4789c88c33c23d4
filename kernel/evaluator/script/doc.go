// Package script is the evaluator script/1: agents as Starlark scripts. A script
// defines main; whatever it wants from outside leaves the tick as a call, and the
// tick goes on over the answer. docs/scripts.md is for those who write scripts.
//
// # Who calls it, in which order
//
// As any evaluator of package evaluator: the door and Apply compile a program,
// which is the source as text or {source, file}; a tick is Start or Resume, then
// Step. Here a Step is a whole run: from the first line of the script, with a
// new thread and fresh globals, over the answers that the tick has, to the next
// call that has none, or to the end. So a tick takes one step more than it makes
// calls (those of a gather being one), and a STEP record names how many came
// before. What is published in one run is that many Emits of one Result.
//
// # Running again
//
// A checkpoint holds what the calls so far came to, not variables: the script
// computes those again. The nth call must be the same again, by a digest of
// names and arguments, else REPLAY_DIVERGENCE; inputs and results are frozen, on
// first delivery too, so nothing that a script does to them can be seen later.
// What was emitted before the call that is waited for is not emitted again.
// While a delegate waits, its decide function runs over a log of its own, which
// is gone when it has decided.
//
// The steps of the last run are those of one straight pass, wherever it was
// suspended, and at most MaxSteps. All runs of a tick together take at most
// MaxTotalSteps: a script that makes n calls evenly takes n/2 straight passes.
// again(state) ends the tick and lets the program run anew with that state as
// its input: nothing is kept, and nothing grows.
//
// # How it is bounded
//
// The source is scanned without recursion (lex.go), parsed by go.starlark.net,
// and its tree rewritten (rewrite.go): operators, members, indexes, slices,
// methods, dicts and whatever a for goes over become calls of this package's
// builtins, and names that the library has and this language has not are
// refused. So the library's interpreter only assigns, calls and loops. Every
// builtin charges the run's meter before it allocates and before it does
// anything longer than a few instructions; the meter and Thread.Steps have one
// limit together. Numbers and text are package expr's, and so are their rules
// and their words. Dicts are this package's own (dict.go), since anybody can
// choose keys that collide in the library's. The bounds are in limits.go.
//
// # What script/1 is
//
// The language; go.starlark.net at v0.0.0-20260908191801-89a6a09411d5, whose
// interpreter decides what a step is; the flags of dialect; the builtins; the
// charges and the limits. Changing one makes another evaluator, script/2: a
// test pins the version, and a corpus pins what scripts do and how many steps
// they take, on every architecture.
//
// # What it never does
//
// It reads no clock, no randomness, no files and no network; no goroutine is
// started, and nothing is kept between ticks. No text of the library is in a
// failure or a refusal (EV-13): its errors are told by kind, in our words, with
// the place and who called whom. It never panics out of Compile, Resume or Step.
package script
