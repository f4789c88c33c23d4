// Package experiment runs a scenario, from an empty directory to a report.
//
// Run builds the lab, lets the scenario's workloads at it, calls the nemesis, heals
// everything, waits until every node serves again, reads what is there, and has it
// judged. What a run goes through is its phases (package history): setup, calm,
// faults, heal, final. Catalog says which workloads there are and what judges them.
//
// What it never does: end without cleaning up, an interrupted run included; call a
// run good that it could not look at; or choose what a verdict is.
package experiment
