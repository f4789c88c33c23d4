// Package bundle writes a debug bundle: one tar.gz with what was collected from a
// cluster, and a manifest that says of everything that is not in it why.
//
// It knows nothing of nodes: whoever collects hands it one item after the other, each
// with a way to get it. It bounds each item and the whole, in bytes and in time, and what
// fails or does not fit is written down and passed over.
package bundle
