// Package bus is the vocabulary of the kernel's event spine: records, their
// kinds, and the FIFO in which reactions wait (EV-3 … EV-5).
//
// A record says that something happened. Deciders make records; publishing
// one gives it the next busSeq, writes it to the execution log and lets the
// one module that owns its kind apply it; only then may reactors see it. The
// bus knows no module: bodies are opaque here, and which module owns which
// kind stands in the kernel's routing table.
package bus
