// Package scenarios holds the fault tests as data: which traffic, which faults,
// for how long.
//
// Each is a YAML file in data/, decoded strictly: a word that is not known, a
// workload without a worker, a fault without a duration are errors that name file,
// line and field. Exploratory ones draw their faults from a mix, by a seed that is
// printed; regression ones take fixed steps, and keep found what was found once.
//
// What it never does: know how a fault is made. Package nemesis does, and says
// whether it can make what a scenario wants.
package scenarios
