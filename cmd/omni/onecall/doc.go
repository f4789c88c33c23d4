// Package onecall makes an agent that calls one tool and may do nothing else, so
// that a call from outside is judged, made by the leader, and on record like every
// other.
//
// Start gives the command; when the agent has ended, AnswerOf reads what the call
// came to from it. It asks nobody anything.
package onecall
