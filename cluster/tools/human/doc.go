// Package human is the kind of tools whose calls a person answers (TO-12).
//
// cmd/omni puts a Kind into the node's registry, so that the door takes manifests
// that name it and says what is wrong with them. It makes nothing: no node runs such
// a call. That the call is in the kernel's outbox is all there is to asking; the
// runner leaves it there, and whoever answers does so at the door, which holds the
// answer to the output schema (tools.CheckAnswer).
package human
