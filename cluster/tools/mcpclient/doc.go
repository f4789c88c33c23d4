// Package mcpclient holds a node's connection to one server of the Model Context
// Protocol: a program that it starts and talks to over stdin and stdout, or an address
// that it sends HTTP to.
//
// A Client connects when it is first needed, and again when the connection was lost, after
// a pause that grows while no call is answered. Calls share the connection. Whatever a
// server does, a call ends with its context, and what the server says is bounded: in
// one message, in messages that nobody asked for, on stderr. A program gets an
// environment of its own and a process group, which is killed as a whole.
//
// Call says how a call ended as precisely as it is known: what certainly did not reach the
// server is NotMade, and nothing else is. A call is sent once. The caller decides whether
// it may be sent again; the client does that only after NotMade, once, when a connection
// that it kept turns out to be gone.
//
// cluster/tools/mcptool makes tools of it, and cmd/omni asks servers for what they have.
// Failures are in our own words: what a server says of itself stays out of them, since
// they enter the log (EV-13).
package mcpclient
