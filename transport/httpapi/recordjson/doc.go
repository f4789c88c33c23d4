// Package recordjson renders blocks of the execution log as JSON: the
// specification's names instead of numbers, agents by their UUID, values as
// JSON, and for every record of a tick the ids of its span and of the span
// around it (EV-11).
//
// A Renderer is made once per server and used by all requests. Whoever serves
// records reads blocks from the log in order and hands each to Block, with a
// state that is not older than the block: records name agents and programs by
// number, and the state knows them.
//
// What it never does: change a state, or tell more than the log and the state
// hold. Where a number leads nowhere any more, what it stood for is left out.
package recordjson
