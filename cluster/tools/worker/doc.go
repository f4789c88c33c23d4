// Package worker is the kind of registered tools whose calls are lent to workers:
// programs outside of the cluster that ask for them over the API (TO-15).
//
// The kind only says what a manifest may be. Who has which call is kept by package
// workers, for the node that leads; cluster.Lending is what the API asks.
package worker
