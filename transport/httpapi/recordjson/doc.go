// Package recordjson renders blocks of the execution log as JSON: the
// specification's names instead of numbers, agents by their UUID, values as
// JSON, and for every record of a tick the ids of its span and of the span
// around it (EV-11).
//
// A Renderer is made once per server and used by all requests. Whoever serves
// records reads blocks from the log in order and hands each to Block, with a
// state that is not older than the block: records name agents by number, and the
// state knows them for ever.
//
// What a record is rendered as depends on the log alone: it is the same on every
// node, at every time, from whatever later state (CL-5). Bodies that are in the log
// once, programs and grants, are told by their number, which is never given again,
// and what comes and goes with them is no part of a record. Select.Notes asks for
// that beside the record: the kind of a step's instruction, the grant that decided,
// where they can be found at bounded cost.
//
// What it never does: change a state, or tell more than the log and the state
// hold.
package recordjson
