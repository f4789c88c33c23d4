package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/fsm/segment"
)

// backfill fetches what this node lacks of the execution log from its peers
// (LO-2), piece by piece, the newest first, so that reads reach back further and
// further. The store says what is missing, verifies every byte against the chain,
// and keeps what has come over restarts; this is who asks whom, and how fast.
//
// It never holds up Apply: the store takes a chunk without the locks that Append
// needs, and what is fetched while commands are under way is limited (pace).
type backfill struct {
	n     *Node
	pace  *pace
	rooms [2][]byte // for what comes; of whoever asks at the moment

	mu      sync.Mutex // guards what follows
	piece   segment.Piece
	got     uint64 // bytes of piece
	fetched uint64
	from    string
	reason  string
	size    int // of the next chunk
}

const (
	backfillLook     = 500 * time.Millisecond // how often the store is asked what is missing
	backfillAgain    = time.Second            // after everybody was asked in vain
	backfillChunkMin = 64 << 10               // bytes
	backfillChunks   = 64                     // a second, when the rate is limited
	backfillCall     = 15 * time.Second       // for one chunk
)

func newBackfill(n *Node) *backfill {
	load := loadMeter{look: func() (uint64, uint64, int) {
		s := n.group.Status()
		return s.LastIndex, s.CommitIndex, s.Open
	}}
	return &backfill{
		n: n, size: maxHistoryChunk,
		pace: &pace{most: n.config.HistoryMax, beside: n.config.HistoryRate, working: load.working},
	}
}

// run fetches until the context ends.
func (b *backfill) run(ctx context.Context) {
	told := ""
	for ctx.Err() == nil {
		piece, some := b.n.log.Missing()
		if !some {
			told = ""
			b.rooms = [2][]byte{} // it may be long until they are needed again
			pause(ctx, backfillLook)
			continue
		}
		err := b.fetch(ctx, piece)
		if err == nil || ctx.Err() != nil {
			continue
		}
		b.note(func() { b.from, b.reason = "", err.Error() })
		if said := err.Error(); said != told {
			told = said
			b.n.logger.Warn("history cannot be fetched at the moment", "segment", piece.Start, "from", piece.From, "to", piece.To, "error", err)
		}
		pause(ctx, backfillAgain)
	}
}

// fetch asks one node after the other for a piece, until it is here.
func (b *backfill) fetch(ctx context.Context, piece segment.Piece) error {
	var errs []error
	for _, peer := range b.order() {
		err := b.fetchFrom(ctx, peer, piece)
		var wrong *segment.CorruptError
		var gave *peerError
		switch {
		case err == nil, errors.Is(err, segment.ErrNotMissing):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, segment.ErrArchivedThere):
			err = &peerError{peer.ID, err}
		case errors.As(err, &wrong):
			b.n.logger.Error("history that came from a node is not the log's: it is fetched again", "node", peer.ID, "error", err)
			err = &peerError{peer.ID, err}
		case !errors.As(err, &gave):
			return err // it is this node's disk: nobody else helps
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		return errors.New("there is no other node to fetch it from")
	}
	return errors.Join(errs...)
}

// peerError is why a node gave nothing of use.
type peerError struct {
	node string
	err  error
}

func (e *peerError) Error() string { return e.node + ": " + e.err.Error() }
func (e *peerError) Unwrap() error { return e.err }

// order is whom to ask: whoever gave something last, then those who follow, then
// the leader, which has most to do.
func (b *backfill) order() []Peer {
	leader, _ := b.n.Leader()
	b.mu.Lock()
	before := b.from
	b.mu.Unlock()
	var first, followers, last []Peer
	for _, p := range b.n.peers() {
		switch p.ID {
		case b.n.config.NodeID:
		case before:
			first = append(first, p)
		case leader.ID:
			last = append(last, p)
		default:
			followers = append(followers, p)
		}
	}
	return append(append(first, followers...), last...)
}

// chunk is an answer, or why there is none.
type chunk struct {
	at   uint64
	next uint64 // position after it
	data []byte
	err  error
}

// fetchFrom fetches the rest of a piece from one node. The next chunk is on its
// way while one is verified and written.
func (b *backfill) fetchFrom(ctx context.Context, peer Peer, piece segment.Piece) error {
	at, err := b.n.log.Have(piece)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	coming := make(chan chunk)
	asking, ctx := supervise.NewGroup(ctx)
	asking.Go(func() { b.ask(ctx, peer, at, piece.To, coming) })
	defer asking.Wait()
	defer cancel()
	b.note(func() { b.piece, b.got = piece, at-piece.From })
	for at < piece.To {
		c, more := <-coming
		if !more {
			return ctx.Err()
		}
		if c.err != nil {
			return &peerError{peer.ID, c.err}
		}
		if err := b.n.log.Accept(piece, at, c.data); err != nil {
			return err
		}
		at = c.next
		b.note(func() {
			b.from, b.reason = peer.ID, ""
			b.got = at - piece.From
			b.fetched += uint64(len(c.data))
		})
	}
	return b.n.log.Complete(piece)
}

// ask gives what a node has from a position on, chunk by chunk, and ends with an
// error, at the end, or with the context. Two rooms are enough: one is being
// written from while the other is filled.
func (b *backfill) ask(ctx context.Context, peer Peer, at, to uint64, out chan<- chunk) {
	defer close(out)
	for i := 0; at < to; i++ {
		if b.rooms[i%2] == nil {
			b.rooms[i%2] = make([]byte, historyAnswer+maxHistoryChunk)
		}
		c := b.askOnce(ctx, peer, at, to, b.rooms[i%2])
		select {
		case out <- c:
		case <-ctx.Done():
			return
		}
		if c.err != nil {
			return
		}
		at = c.next
	}
}

var errNothing = errors.New("it gave nothing")

func (b *backfill) askOnce(ctx context.Context, peer Peer, at, to uint64, room []byte) chunk {
	size := int(min(uint64(b.chunkSize()), to-at))
	if !b.pace.take(ctx, size) {
		return chunk{at: at, err: ctx.Err()}
	}
	ctx, cancel := context.WithTimeout(ctx, backfillCall)
	defer cancel()
	data, err := b.n.config.History.CallInto(ctx, peer.Raft, historyBytes, askForBytes(at, size), room)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		b.note(func() { b.size = max(b.size/2, backfillChunkMin) })
		return chunk{at: at, err: err}
	case err != nil:
		return chunk{at: at, err: err}
	case len(data) <= historyAnswer || len(data) > historyAnswer+size:
		return chunk{at: at, err: errNothing}
	}
	next := binary.LittleEndian.Uint64(data)
	if next <= at || next > to {
		return chunk{at: at, err: errNothing}
	}
	b.note(func() { b.size = min(b.size*2, maxHistoryChunk) })
	return chunk{at: at, next: next, data: data[historyAnswer:]}
}

// chunkSize is less on a slow link, and beside commands: what is asked for next
// waits behind a chunk.
func (b *backfill) chunkSize() int {
	most := uint64(maxHistoryChunk)
	if rate := b.pace.rate(); rate != 0 {
		most = min(most, max(rate/backfillChunks, backfillChunkMin))
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return min(b.size, int(most))
}

func (b *backfill) note(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
}

// progress is what the status tells, when the log is whole from a position on
// and the piece is the next that is missing.
func (b *backfill) progress(piece segment.Piece, whole uint64) *Backfill {
	b.mu.Lock()
	defer b.mu.Unlock()
	missing := whole
	if piece.To > whole {
		missing += piece.To - piece.From // one that is damaged
	}
	if b.piece == piece {
		missing -= b.got
	}
	return &Backfill{MissingBytes: missing, FetchedBytes: b.fetched, From: b.from, Reason: b.reason}
}
