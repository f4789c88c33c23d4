// Package client talks to a cluster over its HTTP API.
//
// # How it is used
//
// New takes the addresses of some nodes; one is enough, the others are learnt.
// A Client is safe for concurrent use. Its commands are exactly once: they
// belong to a session, so one whose answer was lost is sent again until its
// outcome is known, wherever the leader is by then (CL-3). A session holds at
// most 256 sequences above its lowest unanswered one; a program that loads a
// cluster gives each concurrent writer a Fork, which has a session of its own
// and shares everything else.
//
//	c, err := client.New([]string{"http://127.0.0.1:7700"}, client.Options{})
//	done, err := c.Start(ctx, event.Start{Define: event.Define{Program: program}})
//	agent, err := c.Await(ctx, done.AgentID, client.Finished)
//
// # What an error means
//
// Who says so is kept apart. *api.Error: the server said it, and its Definite
// tells whether the command took effect. *Unknown: the client inferred that it
// may have, since a request was sent and no answer came. *Unreachable: the
// client inferred that it did not, since no request went out. *Usage: the call
// itself makes no sense.
//
// Every wait is bounded by the call's context, or else by Options.Timeout:
// until then NOT_LEADER is followed, elections are waited for, and nodes that
// do not answer are passed over.
//
// # What it never does
//
// It never sends a command again that might be applied twice by it, never calls
// a command lost that may have happened, and never keeps a server's answer.
package client
