package segment

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// fetchMore fetches up to a number of chunks of the missing piece; whole tells
// that all of it is there.
func fetchMore(peer, s *Store, p Piece, size, chunks int) (whole bool, err error) {
	at, err := s.Have(p)
	buffer := make([]byte, size)
	for ; err == nil && at < p.To && chunks > 0; chunks-- {
		var n int
		var next uint64
		if n, next, err = peer.Serve(at, buffer); err == nil {
			err = s.Accept(p, at, buffer[:n])
			at = next
		}
	}
	return err == nil && at >= p.To, err
}

// fetchOne fetches the missing piece and completes it.
func fetchOne(peer, s *Store, p Piece, size int) error {
	whole, err := fetchMore(peer, s, p, size, 1<<30)
	if err == nil && !whole {
		err = errors.New("the peer gave too little")
	}
	if err == nil {
		err = s.Complete(p)
	}
	return err
}

// fetchAll fetches all that is missing, newest first, and gives the pieces.
func fetchAll(t testing.TB, peer, s *Store, size int) (pieces []Piece) {
	t.Helper()
	for {
		p, missing := s.Missing()
		if !missing {
			return pieces
		}
		require.Less(t, len(pieces), 1000, "%v is missing again and again: %v", p, s.Status())
		require.NoError(t, fetchOne(peer, s, p, size))
		pieces = append(pieces, p)
	}
}

// resetAt opens a store in dir that goes on at block at, without what was before.
func resetAt(t testing.TB, dir string, blocks []written, at int) *Store {
	t.Helper()
	s, err := Open(dir, testOptions())
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	require.NoError(t, s.Reset(blocks[at].before))
	return s
}

// fullLog is a store with all blocks.
func fullLog(t testing.TB, blocks []written) *Store {
	t.Helper()
	s := openAt(t, scratch(t), blocks[0].before)
	appendAll(t, s, blocks)
	syncAll(t, s)
	return s
}

// requireWhole checks that all history can be read in all ways, and that the
// files are what they are elsewhere.
func requireWhole(t testing.TB, s *Store, peer *Store, blocks []written) {
	t.Helper()
	requireLog(t, s, 1, blocks)
	for agent := uint32(1); agent <= agents; agent++ {
		last := lastPointer(blocks, agent)
		var want, got [][]byte
		for _, b := range blocks {
			if d, err := logging.Decode(b.raw); err == nil {
				if _, touched := d.Previous(agent); touched {
					want = append(want, b.raw)
				}
			}
		}
		require.NoError(t, s.AgentHistory(agent, last, 1, func(_ uint64, b *logging.Block) bool {
			got = append(got, append([]byte(nil), b.Raw...))
			return true
		}))
		require.Equal(t, len(want), len(got))
		for i := range want {
			require.Equal(t, want[i], got[i])
		}
	}
	settle(t, s)
	settle(t, peer)
	requireSameFiles(t, filesIn(t, string(peer.dir), segmentSuffix), filesIn(t, string(s.dir), segmentSuffix), "fetched")
	for _, suffix := range []string{gapSuffix, partSuffix, badSuffix} {
		require.Empty(t, filesIn(t, string(s.dir), suffix))
	}
}

// settle waits until the flusher has written everything, the next segment's header
// included.
func settle(t testing.TB, s *Store) {
	t.Helper()
	syncAll(t, s)
	s.files.Lock()
	defer s.files.Unlock()
}

func lastPointer(blocks []written, agent uint32) uint64 {
	for i := len(blocks) - 1; i >= 0; i-- {
		if d, err := logging.Decode(blocks[i].raw); err == nil {
			if _, touched := d.Previous(agent); touched {
				return logging.PointerTo(blocks[i].before.Position)
			}
		}
	}
	return 0
}

// LO-2: a node that went on from the leader's snapshot fetches what came before,
// newest first, so that history reaches further back with every piece.
func TestFetchHistory(t *testing.T) {
	blocks := history(201, small, 80)
	peer := fullLog(t, blocks)
	at := middleOf(t, blocks)
	for _, chunk := range []int{1, 7, 300, 1 << 20} {
		s := resetAt(t, scratch(t), blocks, at)
		appendAll(t, s, blocks[at:])
		sealed := blocks[at].before.Sealed
		want := []Piece{{Start: blocks[at].before.Tail.Start, From: blocks[at].before.Tail.Start, To: blocks[at].before.Position}}
		for i := len(sealed) - 1; i >= 0; i-- {
			want = append(want, Piece{Start: sealed[i].Start, From: sealed[i].Start, To: sealed[i].End()})
		}
		for _, piece := range want {
			p, missing := s.Missing()
			require.True(t, missing)
			require.Equal(t, piece, p)
			require.NoError(t, fetchOne(peer, s, p, chunk))
			first := firstAt(blocks, p.From)
			require.Equal(t, blocks[first].before.NextSeq, s.Status().FirstSeq)
			require.Equal(t, p.From, s.Status().FirstPosition)
			requireLog(t, s, blocks[first].before.NextSeq, blocks[first:])
		}
		_, missing := s.Missing()
		require.False(t, missing)
		requireWhole(t, s, peer, blocks)
		require.NoError(t, s.Close())

		again := openAt(t, string(s.dir), blocks[79].after)
		_, missing = again.Missing()
		require.False(t, missing)
		requireWhole(t, again, peer, blocks)
	}
}

// lateIn gives a block near the end of a segment, not of the first.
func lateIn(t testing.TB, blocks []written) int {
	t.Helper()
	for i := range blocks {
		if len(blocks[i].before.Sealed) >= 2 && blocks[i].before.Position > blocks[i].before.Tail.Start+1400 {
			return i
		}
	}
	t.Fatal("no such block")
	return 0
}

// firstAt is the block that begins at a position.
func firstAt(blocks []written, position uint64) int {
	for i := range blocks {
		if blocks[i].before.Position == position {
			return i
		}
	}
	return -1
}

// The beginning of the tail is fetched while it is the tail: its blocks can be
// found by busSeq at once.
func TestFetchTheTailsBeginning(t *testing.T) {
	blocks := history(202, 1<<20, 2000)
	at := 1500
	require.Greater(t, blocks[at].before.Position, uint64(3*markEvery))
	require.Empty(t, blocks[1999].after.Sealed)
	peer := fullLog(t, blocks)
	s := resetAt(t, scratch(t), blocks, at)
	appendAll(t, s, blocks[at:])
	require.Equal(t, []Piece{{To: blocks[at].before.Position}}, fetchAll(t, peer, s, 1000))
	for i := 0; i < len(blocks); i += 97 {
		requireLog(t, s, blocks[i].before.NextSeq, blocks[i:])
	}
	requireWhole(t, s, peer, blocks)
}

// What a lagging node had of a segment counts as fetched, as far as it is sound.
func TestResetKeepsBeginnings(t *testing.T) {
	blocks := history(203, small, 80)
	peer := fullLog(t, blocks)
	at := lateIn(t, blocks)
	tail := blocks[at].before.Tail.Start
	sealed := blocks[at].before.Sealed[1]
	inSealed := firstAt(blocks, sealed.Start) + 2
	for what, test := range map[string]struct {
		have   int          // blocks the node had
		damage func(*Store) // after it had stopped
		piece  uint64       // whose beginning is here
		want   uint64       // up to where
	}{
		"of the tail": {have: at - 1, piece: tail, want: blocks[at-1].before.Position},
		"of a sealed": {have: inSealed, piece: sealed.Start, want: blocks[inSealed].before.Position},
		"before damage": {have: at - 1, piece: tail, want: blocks[at-2].before.Position, damage: func(s *Store) {
			file, offset := place(&blocks[at].before, blocks[at-2].before.Position+50)
			changeByte(t, filepath.Join(string(s.dir), file), offset, 1)
		}},
		"damaged header": {have: at - 1, piece: tail, want: tail, damage: func(s *Store) {
			changeByte(t, s.dir.path(tail, segmentSuffix), offsetSeq, 1)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			old := openAt(t, scratch(t), blocks[0].before)
			appendAll(t, old, blocks[:test.have])
			require.NoError(t, old.Close())
			if test.damage != nil {
				test.damage(old)
			}
			s := resetAt(t, string(old.dir), blocks, at)
			for p, missing := s.Missing(); missing; p, missing = s.Missing() {
				have, err := s.Have(p)
				require.NoError(t, err)
				if p.Start == test.piece {
					require.Equal(t, test.want, have)
				} else {
					require.Equal(t, p.From, have)
				}
				require.NoError(t, fetchOne(peer, s, p, 100))
			}
			appendAll(t, s, blocks[at:])
			requireWhole(t, s, peer, blocks)
		})
	}
}

// A download goes on after a restart where it had come to, at the last whole
// block; what a power cut made of the rest is cut away.
func TestFetchResumes(t *testing.T) {
	blocks := history(204, small, 80)
	peer := fullLog(t, blocks)
	at := lateIn(t, blocks)
	headAt := func(path string) logging.Head {
		start, err := strconv.ParseUint(filepath.Base(path)[:20], 10, 64)
		require.NoError(t, err)
		return blocks[firstAt(blocks, start)].before.Tail
	}
	for what, damage := range map[string]func(path string, size int64) error{
		"nothing": func(string, int64) error { return nil },
		"torn":    func(path string, size int64) error { return os.Truncate(path, size-3) },
		"zeros": func(path string, size int64) error {
			return errors.Join(os.Truncate(path, size-200), os.Truncate(path, size))
		},
		"longer":     func(path string, size int64) error { return os.Truncate(path, size+5000) },
		"no header":  func(path string, _ int64) error { return os.Truncate(path, 40) },
		"empty":      func(path string, _ int64) error { return os.Truncate(path, 0) },
		"gone":       func(path string, _ int64) error { return os.Remove(path) },
		"other file": func(path string, size int64) error { return os.WriteFile(path, make([]byte, size), 0o640) },
		"newer": func(path string, _ int64) error {
			h := headerOf(testOwner, headAt(path))
			b := h.append(nil)
			b[offsetVersion] = 7
			return os.WriteFile(path, sealHeader(b), 0o640)
		},
		"foreign": func(path string, size int64) error {
			content, err := os.ReadFile(path)
			h := headerOf(Owner("other", "default"), headAt(path))
			return errors.Join(err, os.WriteFile(path, h.append(nil), 0o640), os.Truncate(path, int64(len(content))))
		},
	} {
		resumes := func(t *testing.T, whole bool) {
			s := resetAt(t, scratch(t), blocks, at)
			p, _ := s.Missing()
			if whole { // a sealed segment, not the tail's beginning
				require.NoError(t, fetchOne(peer, s, p, 500))
				p, _ = s.Missing()
			}
			_, err := fetchMore(peer, s, p, 100, int(p.To-p.From)/130)
			require.NoError(t, err)
			had, err := s.Have(p)
			require.NoError(t, err)
			require.Greater(t, had, p.From+400)
			require.NoError(t, s.Close())
			path := s.dir.path(p.Start, partSuffix)
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, damage(path, info.Size()))

			s = openAt(t, string(s.dir), blocks[at].before)
			now, missing := s.Missing()
			require.True(t, missing)
			require.Equal(t, p, now)
			have, err := s.Have(p)
			require.NoError(t, err)
			require.Positive(t, firstAt(blocks, have)+1, "a whole number of blocks")
			require.LessOrEqual(t, have, had)
			switch what {
			case "nothing", "longer":
				require.Equal(t, had, have)
			case "torn":
				require.Equal(t, blocks[firstAt(blocks, had)-1].before.Position, have)
			}
			require.NoError(t, fetchOne(peer, s, p, 100))
			require.Equal(t, p.From, s.Status().FirstPosition)
			fetchAll(t, peer, s, 1000)
			appendAll(t, s, blocks[at:])
			requireWhole(t, s, peer, blocks)
		}
		t.Run(what+", beginning", func(t *testing.T) { resumes(t, false) })
		t.Run(what+", segment", func(t *testing.T) { resumes(t, true) })
	}
}

// A download that the manifest no longer has is removed; one that it has is not.
func TestPartsOfAnotherManifestGo(t *testing.T) {
	blocks := history(205, small, 80)
	peer := fullLog(t, blocks)
	at := lateIn(t, blocks)
	s := resetAt(t, scratch(t), blocks, at)
	p, _ := s.Missing()
	_, err := fetchMore(peer, s, p, 100, 12)
	require.NoError(t, err)
	stray := filepath.Join(string(s.dir), name(p.Start+1, partSuffix))
	require.NoError(t, os.WriteFile(stray, []byte("x"), 0o640))
	require.NoError(t, s.Close())
	s = openAt(t, string(s.dir), blocks[at].before)
	require.NoFileExists(t, stray)
	have, err := s.Have(p)
	require.NoError(t, err)
	require.Greater(t, have, p.From)
	require.NoError(t, s.Reset(blocks[2].before)) // an older place: the segment does not exist there
	require.NoFileExists(t, s.dir.path(p.Start, partSuffix))
	_, err = s.Have(p)
	require.Equal(t, ErrNotMissing, err)
	require.Equal(t, ErrNotMissing, s.Accept(p, p.From, []byte("x")))
	require.Equal(t, ErrNotMissing, s.Complete(p))
}

// Chunks have to come in order, and whatever lies beyond the piece is ignored.
func TestAcceptInOrder(t *testing.T) {
	blocks := history(206, small, 80)
	peer := fullLog(t, blocks)
	at := middleOf(t, blocks)
	s := resetAt(t, scratch(t), blocks, at)
	p, _ := s.Missing()
	all := make([]byte, 1<<16)
	n, _, err := peer.Serve(p.From, all)
	require.NoError(t, err)
	require.Greater(t, uint64(n), p.To-p.From, "the peer has the whole segment")
	require.Equal(t, &OffsetError{Have: p.From}, s.Accept(p, p.From+1, all[:10]))
	require.Equal(t, &OffsetError{Have: p.From}, s.Complete(p))
	require.NoError(t, s.Accept(p, p.From, all[:10]))
	require.Equal(t, &OffsetError{Have: p.From + 10}, s.Accept(p, p.From, all[:10]))
	require.Equal(t, &OffsetError{Have: p.From + 10}, s.Complete(p))
	require.NoError(t, s.Accept(p, p.From+10, all[10:n]))
	have, err := s.Have(p)
	require.NoError(t, err)
	require.Equal(t, p.To, have)
	require.NoError(t, s.Accept(p, p.To, all[:20]))
	require.NoError(t, s.Complete(p))
	require.Equal(t, ErrNotMissing, s.Complete(p))
}

// LO-2: what a peer gives is checked against the chain. Any changed byte is
// refused, naming file and offset, and the right bytes are taken afterwards.
func TestAcceptRefusesOtherBytes(t *testing.T) {
	blocks := history(207, small, 60)
	peer := fullLog(t, blocks)
	at := middleOf(t, blocks)
	for _, chunk := range []int{150, 1 << 20} {
		s := resetAt(t, scratch(t), blocks, at)
		for p, missing := s.Missing(); missing; p, missing = s.Missing() {
			for position := p.From; position < p.To; position += 11 {
				err := fetchChanged(peer, s, p, chunk, position)
				var damaged *CorruptError
				require.ErrorAs(t, err, &damaged)
				require.Equal(t, s.dir.path(p.Start, partSuffix), damaged.Path)
				require.Equal(t, offsetIn(p.Start, damaged.Position), damaged.Offset)
				require.LessOrEqual(t, damaged.Position, position)
				have, err := s.Have(p) // up to the damaged block, or nothing
				require.NoError(t, err)
				require.Contains(t, []uint64{p.From, damaged.Position}, have)
				again, _ := s.Missing()
				require.Equal(t, p, again)
			}
			require.NoError(t, fetchOne(peer, s, p, chunk))
		}
		appendAll(t, s, blocks[at:])
		requireWhole(t, s, peer, blocks)
	}
}

// fetchChanged fetches a piece with one bit changed on the way.
func fetchChanged(peer, s *Store, p Piece, size int, victim uint64) error {
	buffer := make([]byte, size)
	at, err := s.Have(p)
	if err != nil {
		return err
	}
	for at < p.To {
		n, _, err := peer.Serve(at, buffer)
		if err != nil {
			return err
		}
		n = int(min(uint64(n), p.To-at))
		if victim >= at && victim < at+uint64(n) {
			buffer[victim-at] ^= 1 << (victim % 8)
		}
		if err := s.Accept(p, at, buffer[:n]); err != nil {
			return err
		}
		at += uint64(n)
	}
	return s.Complete(p)
}

// Blocks that are sound and follow each other, but are not the log's, are refused
// at the latest when the piece ends elsewhere.
func TestCompleteRefusesAnotherLog(t *testing.T) {
	blocks, other := history(208, small, 60), history(209, small, 60)
	at := middleOf(t, blocks)
	s := resetAt(t, scratch(t), blocks, at)
	fetchPieces := func() (Piece, error) {
		for {
			p, missing := s.Missing()
			require.True(t, missing)
			if p.Start > 0 {
				require.NoError(t, fetchOne(fullLog(t, blocks), s, p, 5000))
				continue
			}
			var stream []byte // the first segment is the other log's beginning
			for i := 0; uint64(len(stream)) < p.To; i++ {
				stream = append(stream, other[i].raw...)
			}
			if err := s.Accept(p, 0, stream); err != nil {
				return p, err
			}
			return p, s.Complete(p)
		}
	}
	p, err := fetchPieces()
	var damaged *CorruptError
	require.ErrorAs(t, err, &damaged)
	require.ErrorIs(t, err, errCrosses)

	require.NoError(t, fetchOne(fullLog(t, blocks), s, p, 5000))
	_, missing := s.Missing()
	require.False(t, missing)
}

// The last block's end is proven by nothing but the manifest or the gap marker.
func TestCompleteRefusesAnotherEnd(t *testing.T) {
	blocks := history(210, small, 60)
	peer := fullLog(t, blocks)
	at := lateIn(t, blocks)
	s := resetAt(t, scratch(t), blocks, at)
	for p, missing := s.Missing(); missing; p, missing = s.Missing() {
		stream := make([]byte, p.To-p.From)
		n, _, err := peer.Serve(p.From, stream)
		require.NoError(t, err)
		require.Len(t, stream, n)
		last := 0
		for last = range blocks {
			if blocks[last].after.Position == p.To {
				break
			}
		}
		end := stream[blocks[last].before.Position-p.From:]
		term := end[17:] // a later term is as sound as the right one
		term[7]++
		binary.LittleEndian.PutUint32(end[4:], crc32.Checksum(end[8:], castagnoli))
		require.NoError(t, s.Accept(p, p.From, stream))
		err = s.Complete(p)
		var damaged *CorruptError
		require.ErrorAs(t, err, &damaged)
		require.ErrorIs(t, err, errOtherChain)
		require.NoFileExists(t, s.dir.path(p.Start, partSuffix))
		require.NoError(t, fetchOne(peer, s, p, 700))
	}
	appendAll(t, s, blocks[at:])
	requireWhole(t, s, peer, blocks)
}
