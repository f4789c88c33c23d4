// Package api is the vocabulary of the HTTP API: the JSON types of its bodies
// that are not events themselves, the names of its headers, and the table of
// error codes, which says of every code what happened (CL-2).
//
// Bodies of commands are the structs of kernel/event: one definition serves
// the API as JSON and the log as CBOR. Server (transport/httpapi) and client
// (transport/client) both build on this package; it knows neither, and nothing
// of a cluster.
//
// What it never does: talk to anybody, or decide anything but which status and
// which exit code belong to a code.
package api
