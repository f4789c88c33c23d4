// Package echo is the tool that answers with its arguments. It shows that the
// whole way of a call works, and it is what load tests call.
//
// cmd/omni puts its Adapter into the node's registry. It does no I/O, keeps no
// state and cannot fail.
package echo
