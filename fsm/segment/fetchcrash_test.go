package segment

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/logging"
)

// What a crash leaves at each step of Complete is gone on with.
func TestCrashInsideComplete(t *testing.T) {
	blocks := history(231, small, 80)
	peer := fullLog(t, blocks)
	at := lateIn(t, blocks)
	tail := blocks[at].before.Tail.Start
	sealed := blocks[at].before.Sealed[len(blocks[at].before.Sealed)-1]
	file := func(start uint64, suffix string) string { return name(start, suffix) }
	full := filesIn(t, string(peer.dir), segmentSuffix)
	end := offsetIn(tail, blocks[at].before.Position)

	s := resetAt(t, scratch(t), blocks, at)
	appendAll(t, s, blocks[at:])
	require.NoError(t, s.Close())
	base := filesIn(t, string(s.dir), "")
	filled := func(upTo int64) []byte {
		b := append([]byte(nil), base[file(tail, segmentSuffix)]...)
		copy(b[:upTo], full[file(tail, segmentSuffix)])
		return b
	}
	whole := full[file(tail, segmentSuffix)][:end]
	sound := full[file(sealed.Start, segmentSuffix)]
	damaged := append([]byte(nil), sound...)
	damaged[headerBytes+30] ^= 1
	for what, left := range map[string]map[string][]byte{
		"filling: nothing copied": {file(tail, partSuffix): whole},
		"filling: half copied":    {file(tail, partSuffix): whole, file(tail, segmentSuffix): filled(end / 2)},
		"filling: all copied":     {file(tail, partSuffix): whole, file(tail, segmentSuffix): filled(end)},
		"filling: marker gone":    {file(tail, partSuffix): whole, file(tail, segmentSuffix): filled(end), file(tail, gapSuffix): nil},
		"filling: done":           {file(tail, segmentSuffix): filled(end), file(tail, gapSuffix): nil},

		"replacing: not renamed": {
			file(sealed.Start, segmentSuffix): damaged, file(sealed.Start, badSuffix): []byte("x"), file(sealed.Start, partSuffix): sound,
		},
		"replacing: renamed":      {file(sealed.Start, segmentSuffix): sound, file(sealed.Start, badSuffix): []byte("x")},
		"replacing: only renamed": {file(sealed.Start, segmentSuffix): sound},
		"replacing: a sparse one": {
			file(tail, segmentSuffix): full[file(tail, segmentSuffix)], file(tail, badSuffix): []byte("x"),
		},
	} {
		for _, from := range []int{at, 79} { // restarted in that segment, and with it sealed
			t.Run(what, func(t *testing.T) {
				dir := scratch(t)
				files := maps.Clone(base)
				maps.Copy(files, left)
				for f, content := range files {
					if content != nil {
						require.NoError(t, os.WriteFile(filepath.Join(dir, f), content, 0o640))
					}
				}
				s := openAt(t, dir, blocks[from].before)
				appendAll(t, s, blocks[from:])
				fetchAll(t, peer, s, 700)
				requireWhole(t, s, peer, blocks)
			})
		}
	}
}

// fetcher is the node under test and its peer, in any course of things.
type fetcher struct {
	blocks   []written
	peer     *Store
	dir      string
	s        *Store
	snapshot int // the last durable snapshot
	at       int // the next block
}

func (f *fetcher) open(t *rapid.T, dir string) {
	s, err := Open(dir, testOptions())
	require.NoError(t, err)
	f.dir, f.s = dir, s
	err = s.Resume(f.blocks[f.snapshot].before)
	if err != nil { // as the FSM does
		require.True(t, aboutContent(err), "%v", err)
		require.NoError(t, s.Reset(f.blocks[f.snapshot].before))
	}
	f.at = f.snapshot
}

func (f *fetcher) append(t *rapid.T, n int) {
	for ; n > 0 && f.at < len(f.blocks); n-- {
		require.NoError(t, f.s.Append(f.blocks[f.at].raw, &f.blocks[f.at].after))
		f.at++
	}
	f.s.Publish()
}

// fetch some chunks of what is missing, perhaps all, perhaps wrong ones.
func (f *fetcher) fetch(t *rapid.T) {
	p, missing := f.s.Missing()
	if !missing {
		return
	}
	size, chunks := rapid.IntRange(1, 900).Draw(t, "size"), rapid.IntRange(0, 12).Draw(t, "chunks")
	whole, err := fetchMore(f.peer, f.s, p, size, chunks)
	require.NoError(t, err)
	if whole {
		require.NoError(t, f.s.Complete(p))
	}
}

// spoil a byte or the end of any file: at rest, as disks do.
func (f *fetcher) spoil(t *rapid.T) {
	names, err := filepath.Glob(filepath.Join(f.dir, "*.*"))
	require.NoError(t, err)
	archived, err := filepath.Glob(filepath.Join(f.dir, "archive", "*.*"))
	require.NoError(t, err)
	names = append(names, archived...)
	path := rapid.SampledFrom(names).Draw(t, "file")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	switch kind := rapid.SampledFrom([]string{"flip", "cut", "remove"}).Draw(t, "damage"); {
	case kind == "remove":
		require.NoError(t, os.Remove(path))
	case len(content) == 0:
	case kind == "flip":
		content[rapid.IntRange(0, len(content)-1).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		require.NoError(t, os.WriteFile(path, content, 0o640))
	default:
		require.NoError(t, os.Truncate(path, int64(rapid.IntRange(0, len(content)-1).Draw(t, "length"))))
	}
}

// read checks that whatever is answered is right.
func (f *fetcher) read(t *rapid.T) {
	for _, i := range []int{0, f.at / 2, rapid.IntRange(0, max(f.at-1, 0)).Draw(t, "block")} {
		if b, err := f.s.BlockAt(f.blocks[i].before.Position); err == nil {
			require.Equal(t, f.blocks[i].raw, b.Raw)
		}
	}
}

// LO-2: whatever order of snapshots from the leader, appending, fetching in
// chunks, crashes, restarts and damage to any file there was, in the end all is
// fetched, the files are those of every other replica, and everything can be read.
func TestAnyCourseOfFetching(t *testing.T) {
	blocks := history(232, small, 60)
	peer := fullLog(t, blocks)
	rapid.Check(t, func(rt *rapid.T) {
		f := &fetcher{blocks: blocks, peer: peer}
		f.open(rt, scratch(t))
		defer func() { f.s.Close() }()
		steps := []string{"append", "append", "fetch", "fetch", "fetch", "reset", "close", "crash", "snapshot", "spoil", "read"}
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			switch rapid.SampledFrom(steps).Draw(rt, "step") {
			case "append":
				f.append(rt, min(rapid.IntRange(1, 9).Draw(rt, "blocks"), len(blocks)-1-f.at))
			case "fetch":
				f.fetch(rt)
			case "reset": // a snapshot of the leader's, further on
				f.at = rapid.IntRange(f.at, len(blocks)-1).Draw(rt, "to")
				require.NoError(rt, f.s.Reset(blocks[f.at].before))
				f.snapshot = f.at
			case "snapshot":
				f.snapshot = f.at
				require.NoError(rt, f.s.Sync(context.Background(), blocks[f.snapshot].before.Position))
			case "close":
				require.NoError(rt, f.s.Close())
				f.open(rt, f.dir)
			case "crash":
				crashed := copyDir(t, f.dir)
				require.NoError(rt, f.s.Close())
				f.open(rt, crashed)
			case "spoil":
				require.NoError(rt, f.s.Close())
				f.spoil(rt)
				f.open(rt, f.dir)
			case "read":
				f.read(rt)
			}
		}
		f.append(rt, len(blocks))
		for round := 0; ; round++ { // reading finds what damage is left
			fetchAll(t, peer, f.s, 800)
			_, err := f.s.ReadFrom(1, func(uint64, *logging.Block) bool { return true })
			if err == nil {
				break
			}
			require.ErrorAs(rt, err, new(*CorruptError))
			require.Less(rt, round, 60)
			if _, missing := f.s.Missing(); !missing { // in the tail: a restart finds it
				require.NoError(rt, f.s.Close())
				f.open(rt, f.dir)
				f.append(rt, len(blocks))
			}
		}
		requireWhole(t, f.s, peer, blocks)
	})
}

// fetchEnv names the directory of a child process that fetches until it is killed.
const fetchEnv = "SEGMENT_TEST_FETCHER_DIR"

// fetchUntilKilled is the child: its directory holds a peer's log beside its own.
func fetchUntilKilled(dir string) {
	blocks := history(killSeed, killSegment, killBlocks)
	peer, err := Open(filepath.Join(dir, "peer"), testOptions())
	if err != nil {
		panic(err)
	}
	if err := peer.Resume(blocks[killBlocks-1].after); err != nil {
		panic(err)
	}
	s, err := Open(filepath.Join(dir, "mine"), Options{Owner: testOwner})
	if err != nil {
		panic(err)
	}
	at := blocks[killBlocks-300]
	if err := s.Resume(at.before); err != nil && s.Reset(at.before) != nil {
		panic(err)
	}
	for p, missing := s.Missing(); missing; p, missing = s.Missing() {
		if err := fetchOne(peer, s, p, 3000); err != nil {
			panic(err)
		}
	}
}

// A node that is killed with SIGKILL while it fetches goes on where it was.
func TestKilledFetcher(t *testing.T) {
	blocks := history(killSeed, killSegment, killBlocks)
	dir := scratch(t)
	peer := openAt(t, filepath.Join(dir, "peer"), blocks[0].before)
	appendAll(t, peer, blocks)
	require.NoError(t, peer.Close())
	mine := filepath.Join(dir, "mine")
	require.NoError(t, os.Mkdir(mine, 0o750))
	resumed := false
	for round := range int64(6) {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), fetchEnv+"="+dir)
		child.Stderr = os.Stderr
		require.NoError(t, child.Start())
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		eventually(t, "the child to fetch", func() bool {
			return len(ended) > 0 || sizeOf(t, mine, partSuffix)+sizeOf(t, mine, segmentSuffix) > (round+1)*450_000
		})
		_ = child.Process.Kill() // it may have ended
		<-ended
		resumed = resumed || sizeOf(t, mine, partSuffix) > headerBytes
	}
	require.True(t, resumed, "no kill hit a download")
	peer = openAt(t, filepath.Join(dir, "peer"), blocks[killBlocks-1].after)
	s := openAt(t, mine, blocks[killBlocks-300].before)
	appendAll(t, s, blocks[killBlocks-300:])
	fetchAll(t, peer, s, 1<<20)
	requireLog(t, s, 1, blocks)
	syncAll(t, s)
	requireSameFiles(t, filesIn(t, string(peer.dir), segmentSuffix), filesIn(t, mine, segmentSuffix), "after the kills")
}
