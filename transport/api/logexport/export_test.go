package logexport_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// blocks are those of a kernel that did something, and the place before each.
func blocks(t testing.TB, n int) (raw [][]byte, before []logging.Point) {
	t.Helper()
	k := kernel.New("default", registry.Lookup)
	c := config.Default()
	c.ClusterID = "test"
	for i := range n {
		e := event.Event{Kind: event.AgentDefine, Wall: int64(i), Principal: "client", Body: event.Encode(&event.Define{})}
		if i == 0 {
			e.Kind, e.Body = event.KernelBooted, event.Encode(&c)
		}
		before = append(before, k.Log().Point)
		applied := k.Apply(uint64(i)+1, 1, &e)
		raw = append(raw, bytes.Clone(applied.Block))
	}
	return raw, append(before, k.Log().Point)
}

func export(t testing.TB, raw [][]byte, at logging.Point) []byte {
	t.Helper()
	var file bytes.Buffer
	w, err := logexport.NewWriter(&file, "test", "default", at)
	require.NoError(t, err)
	for _, block := range raw {
		require.NoError(t, w.Block(block))
	}
	require.NoError(t, w.Finish())
	return file.Bytes()
}

func TestExportIsVerifiedAndCopied(t *testing.T) {
	raw, at := blocks(t, 6)
	file := export(t, raw, at[0])
	var copied bytes.Buffer
	sum, err := logexport.Copy(&copied, bytes.NewReader(file))
	require.NoError(t, err)
	assert.Equal(t, file, copied.Bytes())
	assert.True(t, sum.Genesis)
	assert.Equal(t, uint64(6), sum.Blocks)
	assert.Equal(t, uint64(6), sum.LastIndex)
	assert.Equal(t, at[6].NextSeq, sum.NextSeq)
	assert.Equal(t, sum.NextSeq-1, sum.Records)
	part, err := logexport.Verify(bytes.NewReader(export(t, raw[3:], at[3])))
	require.NoError(t, err)
	assert.False(t, part.Genesis)
	assert.Equal(t, sum.Chain, part.Chain)
}

// LO-1: whatever is cut off, changed, left out or put elsewhere is noticed.
func TestEveryDamageIsNoticed(t *testing.T) {
	raw, at := blocks(t, 4)
	file := export(t, raw, at[0])
	for n := range len(file) {
		_, err := logexport.Verify(bytes.NewReader(file[:n]))
		var broken *logexport.Broken
		require.ErrorAs(t, err, &broken, "cut at byte %d", n)
	}
	for n := range len(file) {
		damaged := bytes.Clone(file)
		damaged[n] ^= 0x20
		_, err := logexport.Verify(bytes.NewReader(damaged))
		require.Error(t, err, "byte %d", n)
	}
	_, err := logexport.Verify(bytes.NewReader(append(bytes.Clone(file), 0)))
	assert.ErrorContains(t, err, "follows the trailer")

	w, err := logexport.NewWriter(io.Discard, "test", "default", at[0])
	require.NoError(t, err)
	require.NoError(t, w.Block(raw[0]))
	assert.Error(t, w.Block(raw[2]), "a block is left out")
	elsewhere := at[0]
	elsewhere.Chain[0] ^= 1
	file = header(t, elsewhere)
	_, err = logexport.Verify(bytes.NewReader(file))
	assert.ErrorContains(t, err, "another chain value")
}

// An export of a newer format is called that; one of another cluster says whose it
// is, and under another kernel's name its beginning is noticed.
func TestExportsOfOthers(t *testing.T) {
	raw, at := blocks(t, 4)
	file := export(t, raw, at[0])
	newer := bytes.Clone(file)
	newer[8] = 1
	_, err := logexport.Verify(bytes.NewReader(newer))
	assert.EqualError(t, err, "log export: broken at byte 12: written in a format that this program does not know")
	s := twins(t)
	newer = exportAgent(t, s, 2)
	newer[8] = 1
	_, err = logexport.VerifyAgent(bytes.NewReader(newer))
	assert.EqualError(t, err, "agent export: broken at byte 12: written in a format that this program does not know")

	var foreign bytes.Buffer
	w, err := logexport.NewWriter(&foreign, "another", "default", at[0])
	require.NoError(t, err)
	for _, block := range raw {
		require.NoError(t, w.Block(block))
	}
	require.NoError(t, w.Finish())
	sum, err := logexport.Verify(&foreign)
	require.NoError(t, err, "sound in itself")
	assert.Equal(t, "another", sum.ClusterID)
	foreign.Reset()
	_, err = logexport.NewWriter(&foreign, "test", "other", at[0])
	require.NoError(t, err)
	_, err = logexport.Verify(&foreign)
	assert.ErrorContains(t, err, "with another chain value than the kernel's")
	h := headerOf(s, 2)
	h.KernelID = "other"
	aw, err := logexport.NewSubjectWriter(&foreign, h)
	require.NoError(t, err)
	foreign.Reset()
	log := s.Placed()
	require.NoError(t, aw.First(log.Blocks[0]))
	_, err = logexport.VerifyAgent(io.MultiReader(bytes.NewReader(headerBytesOf(t, h)), &foreign))
	assert.ErrorContains(t, err, "not the first of that kernel's log")
}

// headerBytesOf is how an agent's export begins.
func headerBytesOf(t *testing.T, h logexport.SubjectHeader) []byte {
	t.Helper()
	var start bytes.Buffer
	_, err := logexport.NewSubjectWriter(&start, h)
	require.NoError(t, err)
	return start.Bytes()
}

func header(t *testing.T, at logging.Point) []byte {
	var file bytes.Buffer
	_, err := logexport.NewWriter(&file, "test", "default", at)
	require.NoError(t, err)
	return file.Bytes()
}

// A length promises nothing: memory grows with what has arrived.
func TestLengthsAreNotTrusted(t *testing.T) {
	raw, at := blocks(t, 1)
	file := header(t, at[0])
	long := binary.LittleEndian.AppendUint32(bytes.Clone(file), logging.MaxBlockBytes)
	allocated := testing.AllocsPerRun(1, func() {
		_, err := logexport.Verify(bytes.NewReader(append(long, raw[0]...)))
		assert.Error(t, err)
	})
	assert.Less(t, allocated, 200.0)
	_, err := logexport.Verify(bytes.NewReader(binary.LittleEndian.AppendUint32(bytes.Clone(file), logging.MaxBlockBytes+1)))
	assert.ErrorContains(t, err, "impossible")
	_, err = logexport.Verify(bytes.NewReader(append(bytes.Clone(file[:12]), 0xff, 0xff, 0xff, 0xff)))
	assert.ErrorContains(t, err, "impossible")
}

var errDisk = errors.New("disk full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errDisk }
func (failing) Read([]byte) (int, error)  { return 0, errDisk }

func TestFailuresAreTheOthersOwn(t *testing.T) {
	raw, at := blocks(t, 2)
	_, err := logexport.Copy(failing{}, bytes.NewReader(export(t, raw, at[0])))
	assert.ErrorIs(t, err, errDisk)
	_, err = logexport.Verify(failing{})
	assert.ErrorIs(t, err, errDisk)
	_, err = logexport.NewWriter(failing{}, "test", "default", at[0])
	assert.ErrorIs(t, err, errDisk)
}

func FuzzVerify(f *testing.F) {
	raw, at := blocks(f, 3)
	f.Add(export(f, raw, at[0]))
	f.Add(export(f, nil, at[3]))
	f.Fuzz(func(t *testing.T, file []byte) {
		sum, err := logexport.Verify(bytes.NewReader(file))
		if err == nil && sum.NextSeq < sum.FromSeq {
			t.Fatalf("verified nonsense: %+v", sum)
		}
	})
}
