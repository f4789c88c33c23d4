// Package runs is about runs (RU-1): a goal, a plan of tasks, and a root agent
// that executes them one instruction at a time.
//
// It holds the run's state machine as data (Table, Path), the bodies of what is
// recorded of runs, and the tables, which those records alone change. Flows
// decide: they ask Path which edges a request takes, compose the input of the
// task that is next, and publish. A run has the number of its root agent, and
// its id: nothing else names it.
//
// The package never looks at an agent's row, and does not know what a program
// is: what a task came to is handed to it.
package runs
