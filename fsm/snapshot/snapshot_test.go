package snapshot_test

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/fsm/snapshot"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/state"
)

func sample(t testing.TB) (*state.State, []byte) {
	s := kerneltest.New(t, 1)
	s.Start(event.Define{Program: kerneltest.JSON(t, `{"kind":"CALL","payload":{"tool":"echo","args":1}}`)}, nil)
	var file bytes.Buffer
	require.NoError(t, snapshot.Write(&file, "test", "default", s.State()))
	return s.State(), file.Bytes()
}

// drain reads a snapshot to its end.
func drain(from io.Reader) (*snapshot.Reader, []kernel.Section, error) {
	r, err := snapshot.NewReader(from)
	if err != nil {
		return nil, nil, err
	}
	var sections []kernel.Section
	for {
		one, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return r, sections, nil
		case err != nil:
			return nil, nil, err
		}
		sections = append(sections, one)
	}
}

// LO-6: what is read is what was written, and its digest is the state's; the same
// sections under another header are the same state of somebody else.
func TestRoundTrip(t *testing.T) {
	s, file := sample(t)
	r, sections, err := drain(iotest.OneByteReader(bytes.NewReader(file)))
	require.NoError(t, err)
	require.Equal(t, snapshot.HeaderOf("test", "default", s), r.Header())
	require.Equal(t, kernel.Digest(s), r.Digest())
	_, err = r.Next()
	require.ErrorIs(t, err, io.EOF, "and stays at its end")

	other := r.Header()
	other.ClusterID = "other"
	var again bytes.Buffer
	w, err := snapshot.NewWriter(&again, other)
	require.NoError(t, err)
	for _, one := range sections {
		require.NoError(t, w.Section(one))
	}
	require.NoError(t, w.Finish())
	moved, _, err := drain(&again)
	require.NoError(t, err)
	require.Equal(t, other, moved.Header())
	require.Equal(t, r.Digest(), moved.Digest())
}

// What is cut, goes on after its end, or is of another kind or a newer version is
// told apart; a reader's own failure stays its own.
func TestWhatIsNoSnapshot(t *testing.T) {
	_, file := sample(t)
	for cut := range file {
		_, _, err := drain(bytes.NewReader(file[:cut]))
		if !errors.Is(err, snapshot.ErrNotSnapshot) {
			require.ErrorIs(t, err, snapshot.ErrDamaged, "cut at %d", cut)
		}
	}
	_, _, err := drain(bytes.NewReader(append(bytes.Clone(file), 0)))
	require.ErrorContains(t, err, "bytes after its trailer")
	newer := bytes.Clone(file)
	newer[8] = 9
	_, _, err = drain(bytes.NewReader(newer))
	require.ErrorIs(t, err, kernel.ErrSnapshotVersion)
	long := bytes.Clone(file)
	long[14] = 0xff
	_, _, err = drain(bytes.NewReader(long))
	require.ErrorContains(t, err, "a header of")
	disk := errors.New("disk")
	for cut := range file {
		_, _, err = drain(io.MultiReader(bytes.NewReader(file[:cut]), iotest.ErrReader(disk)))
		require.ErrorIs(t, err, disk, "after %d bytes", cut)
	}
}

// Arbitrary bytes are read or refused, with memory in proportion.
func FuzzReader(f *testing.F) {
	_, file := sample(f)
	f.Add(file)
	f.Add(file[:60])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, sections, err := drain(bytes.NewReader(b))
		if err != nil {
			return
		}
		var again bytes.Buffer
		w, err := snapshot.NewWriter(&again, r.Header())
		require.NoError(t, err)
		for _, one := range sections {
			require.NoError(t, w.Section(one))
		}
		require.NoError(t, w.Finish())
		require.Equal(t, b, again.Bytes(), "a snapshot has one form")
	})
}
