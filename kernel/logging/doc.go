// Package logging is the pure half of the execution log: the format of a
// block, the chain over blocks, the log's own tables in kernel state, and a
// verifier. It does no I/O; fsm/segment keeps the bytes on disk.
//
// One event gives one block (EV-3). A block holds the event's records, the
// first of which is the event itself, and for each agent it touches a pointer
// to that agent's previous block, so that an agent's history is a linked list
// inside the log. The same goes for the runs that those agents belong to (RU-4). Blocks are chained by SHA-256: equal index means equal chain
// on every replica (LO-1).
//
// # How the kernel writes one block
//
// A Builder is kept for the life of the kernel and reused. For each event:
//
//	b.Begin(index, term, t.NextSeq, clockMillis)
//	for each record, as it is published:
//		seq := b.Open(logging.Header{Kind: k, Agent: a, Tick: n, Step: s, Cause: c})
//		b.Buf = body.AppendTo(b.Buf)
//		b.Close()
//		if a != 0 {
//			b.Touch(a, row.LastBlock) // the pointer as it stood before this event
//		}
//	b.Touch(RunSubject(run), …) for each run that a touched agent belongs to
//	block, chain := b.Seal(t.Chain)
//	here := logging.PointerTo(t.Position) // goes into the row of every touched subject
//	t.Advance(block, chain, config.SegmentBytes)
//
// where t is the Tables value inside the state. Begin, Open, Close, Touch and
// Seal allocate nothing once their buffers have grown. The block is valid
// until the next Begin; whoever keeps it copies it.
//
// Touch may be called for every record: within one block the first call for an
// agent counts and later ones are ignored, so it does not matter whether the
// row was already updated. An agent that a record names and Touch did not is an
// error of the kernel, and Decode refuses such a block.
//
// Len tells how long the block has become. The kernel must keep every block
// within MaxBlockBytes by its work budget (EV-12); Seal panics above it, since
// nobody could read such a block.
//
// # How a block is read
//
// Decode checks everything about one block that can be known from its bytes
// alone and gives a Block, whose records and pointers are then iterated
// without errors and without allocation. A Verifier is fed blocks in order and
// checks what holds between them.
//
// Where a log was archived, a Stub stands for a block that nobody who is alive
// needs: FeedStub takes it in the block's place, and the chain and the tree over the
// digests still verify.
//
// # Positions and pointers
//
// A position is the global byte offset of a block, counted over block bytes
// only (no file headers), from 0, equal on every replica. A pointer is a
// position plus one, so that 0 can say "none".
//
// # What it never does
//
// It reads no clock, opens no file, starts no goroutine, and interprets no
// record body: kinds and bodies belong to the bus and the modules. Agent
// number 0 means "no agent"; real agents are numbered from 1 to MaxAgent.
package logging
