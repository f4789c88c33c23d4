// Package segment keeps the execution log on disk: append-only segment files
// whose bytes are a function of the committed events alone, and therefore
// identical on every replica.
//
// # Who calls it, in which order
//
// The FSM owns one Store per kernel.
//
//  1. Open(dir, options).
//  2. Resume(tables), once the state has been restored from the newest Raft
//     snapshot (or Genesis, when there is none). A *GapError or *CorruptError
//     says that the local log does not hold what the snapshot stands on;
//     Reset(tables) is then the way on, and history has to come from peers.
//  3. For each event, on the one goroutine that applies: Append(block, tables),
//     then once per batch Publish, before the batch's state is published. So
//     whoever sees a state can read the log that led to it.
//  4. Before a Raft snapshot's sink is closed: Sync(ctx, position of the captured
//     tables). No record is ever neither durable nor re-derivable (LO-2).
//  5. Reset(tables), when a snapshot from the leader replaced the state.
//  6. Archive, when a snapshot has been taken of, or restored to, a state whose
//     manifest has archived segments.
//  7. Close, after the last Append.
//
// ReadFrom, BlockAt, AgentBlocks, AgentHistory, Serve, Grown, Status and Sync may
// be called from any goroutine at any time after step 2. They never wait for an
// Append nor an Append for them, apart from a lock that is held for the length
// of a few instructions: what is not in a file yet is read where it lies in
// memory.
//
// Missing, Have, Accept and Complete fetch history (below). They may be called from
// any goroutine too; one at a time does something. No Append waits for them. Reset
// and Close wait for the one that is under way.
//
// Whatever Append, Sync or Close answers as an error, other than the context's
// own, is final: nothing is appended after it, and the node must stop. A failed
// fsync is never tried again, since the kernel may have dropped the pages. Failed
// tells a supervisor at once.
//
// # Crash safety, operation by operation
//
// The log is derived data. A block exists only because its event was committed;
// after a crash, Raft gives every committed event again from the newest snapshot
// on, and applying it gives the same block again. From this follows:
//
//   - Append makes nothing durable. A background flusher writes full chunks at
//     once, and every FlushEvery writes what there is and fsyncs.
//   - What the files hold beyond the snapshot's position after a restart was
//     committed, and must equal what will be derived. So it is neither trusted
//     nor thrown away: it stays unpublished, and Append compares. Equal blocks are
//     kept without a write. A valid block (checksum and structure) that differs
//     means that this replica once computed something else: *DivergenceError, the
//     node stops (LO-3).
//   - An invalid block there is either torn, when the crash cut a write short, or
//     damaged, when intact blocks follow it (pages reach the disk in any order,
//     and disks rot). Both are cured alike, because Raft's log reaches back to the
//     snapshot and so before it: the file is cut there, later files are removed,
//     and all that follows is derived again. The log message tells the two apart.
//   - Below the snapshot's position nothing can be derived again locally. The part
//     of the tail segment up to there is verified by Resume, chain included; in
//     sealed segments every read verifies the block it reads. Damage there is a
//     *CorruptError that names file and offset, never a wrong answer; see below for
//     how it is healed.
//   - Cutting removes later files first, newest first, then truncates: a crash in
//     between leaves a shorter log, which is as good.
//   - Rollover happens where the tables say, in the flusher: the full segment is
//     fsynced, the next file is created with its header and the directory is
//     fsynced before anything in it counts as synced.
//   - The sidecar index of a sealed segment is written to a temporary file and
//     renamed. It carries checksum and chain value; missing, damaged or not
//     belonging to the segment, it is built again when it is first wanted.
//
// # History that is not here
//
// After Reset the log may begin in the middle. A marker file (.gap) beside the
// tail segment says from where the segment holds blocks; the bytes before it in
// the file mean nothing, and the file is a sparse one, so that once they are filled
// in it is byte-identical again. Reads below the floor, the first block from which
// on everything is here, answer *HistoryBehindError. Sealed segments that match the
// manifest stay on disk although they are not read meanwhile.
//
// Missing names the piece to fetch next: the newest sealed segment that was found
// damaged, or what lies right below the floor. Its bytes go into a file of their
// own (.part), which looks as the segment file does, and are verified as they
// come. That they continue each other they prove themselves; that they are the
// right history only the piece's end proves, which the manifest or the gap marker
// knows. Nothing of a piece is read before. When a byte is refused, the whole piece
// is: a peer whose log differs gives blocks that are sound until the end.
//
// Complete, step by step, and what a crash between two steps leaves:
//
//   - The .part file is fsynced. A crash before: the next Have verifies it from the
//     beginning and cuts what is torn. When the fsync fails the file is removed.
//   - A whole segment: the file is renamed to .seg and the directory fsynced, then
//     the .gap and .bad markers are removed. A crash between leaves a sound file
//     that is said to be damaged, or to lack its beginning: it is fetched again. The
//     other order could leave a file without a marker that is not whole.
//   - A segment's beginning: its bytes are copied before those that the .seg file
//     holds, the file is fsynced, the .gap marker removed and the directory fsynced,
//     and last the .part file removed. A crash before the marker is gone: the bytes
//     mean nothing yet, and the .part file, whole, is copied again. After it: a
//     .part file of a piece that is not missing, which the next start removes.
//
// Damage in a sealed segment is found when it is read. The whole file is then
// verified against the manifest, and if that confirms it, a marker (.bad, whose
// text is for people) makes Missing name the segment. The file stays, so that its
// sound blocks can be read, until a peer's copy is renamed over it. A file that has
// the wrong length, or none, when the store is opened raises the floor above it.
//
// Reset does not throw away the beginning of a segment that it cannot use as it is:
// the file becomes the .part file, whose sound beginning need not be fetched.
//
// # Archiving
//
// A committed event archives sealed segments, as of its Raft index. Archive tells the
// store, once a Raft snapshot stands behind that, and which blocks may be dropped as
// of which index; a goroutine does the rest, segment by segment:
//
//   - The compacted file (.cmp) is written to a temporary file: the blocks that are
//     kept, and stubs in the place of the others. It is verified against the
//     manifest as it is written, fsynced, and renamed. A crash before leaves a
//     temporary file, which the next start removes.
//   - The full file is moved to the archive, and both directories are fsynced. On
//     another file system it is copied there under a temporary name, fsynced, renamed,
//     and then removed here. A crash leaves it in one place or in both; the step is
//     done again.
//
// A compacted file names the index as of which it is compacted. When the segment is
// archived again, as of a later one, it is made anew, from the archive's file or from
// itself: what was dropped once may be dropped for ever, so both give the same bytes.
// One that came from a peer with stubs has index 0 and is made anew, too.
//
// A sealed segment is read from the best file that there is: the full one, here or in
// the archive, or the compacted one. So the archive may be moved away and put back at
// any time. Without it, reads of dropped blocks answer *CompactedError, Walk visits
// their stubs, and Serve gives them to peers.
//
// After a restart from a Raft snapshot that is older than the one behind the archive,
// the log may go on in a segment that was moved: it is moved back.
//
// Damage to a file of the archive is found when it is read; the file is put aside
// there (.bad) and the compacted one read instead. Damage to a compacted file is
// healed as that of any sealed segment.
//
// # What it never does
//
// It decides nothing about where a segment ends, computes no chain value, and
// interprets no record: that is kernel/logging. It never fsyncs on the goroutine
// that applies, except when Resume, Reset or a cut repairs files. It takes no lock
// on the directory: the node does that, once, for all it keeps there.
package segment
