package kernel_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/state"
)

func sections(s *kerneltest.Sim) []kernel.Section {
	var all []kernel.Section
	kernel.Sections(s.State(), func(one kernel.Section) bool {
		all = append(all, kernel.Section{Kind: one.Kind, Body: bytes.Clone(one.Body)})
		return true
	})
	return all
}

func restore(all []kernel.Section) error {
	r := kernel.NewRestorer()
	for _, one := range all {
		if err := r.Add(one); err != nil {
			return err
		}
	}
	_, err := r.Done(registry.Lookup)
	return err
}

// A snapshot begins with its root and the log's tables, goes on in order, and
// is refused whole otherwise.
func TestSnapshotOrder(t *testing.T) {
	h := kerneltest.NewHistory(t, 1, 30, kerneltest.NewSeeded(3))
	h.Run(60)
	all := sections(h.Sim)
	require.NoError(t, restore(all))
	require.ErrorIs(t, restore(nil), kernel.ErrSnapshotBroken)
	require.ErrorIs(t, restore(all[:1]), kernel.ErrSnapshotBroken, "no log")
	require.ErrorIs(t, restore(all[1:]), kernel.ErrSnapshotBroken, "no root")
	require.NoError(t, restore(all[:2]), "what is missing behind is the digest's to find")
	without := append([]kernel.Section{all[0]}, all[2:]...)
	require.ErrorIs(t, restore(without), kernel.ErrSnapshotBroken, "no log, and more")
	for _, twice := range all[:2] {
		require.ErrorIs(t, restore(append(append([]kernel.Section{}, all...), twice)), kernel.ErrSnapshotBroken)
	}
	require.ErrorIs(t, restore([]kernel.Section{all[0], all[0]}), kernel.ErrSnapshotBroken)
	swapped := append([]kernel.Section{}, all...)
	swapped[2], swapped[len(swapped)-1] = swapped[len(swapped)-1], swapped[2]
	require.ErrorIs(t, restore(swapped), kernel.ErrSnapshotBroken)
	for i := range all {
		broken := append([]kernel.Section{}, all...)
		broken[i].Body = append(bytes.Clone(broken[i].Body), 0)
		require.ErrorIs(t, restore(broken), kernel.ErrSnapshotBroken, "section %d of kind %d", i, all[i].Kind)
		broken[i].Body = all[i].Body[:len(all[i].Body)-1]
		require.ErrorIs(t, restore(broken), kernel.ErrSnapshotBroken)
	}
}

// EV-9: a snapshot of a newer version is told from a damaged one.
func TestSnapshotOfANewerVersion(t *testing.T) {
	s := kerneltest.New(t, 1)
	all := sections(s)
	require.ErrorIs(t, restore(append(all, kernel.Section{Kind: 200})), kernel.ErrSnapshotVersion)
	newer := append([]kernel.Section{}, all...)
	newer[0].Body = kernel.RootOf(kernel.SnapshotFormat+1, s.State())
	require.ErrorIs(t, restore(newer), kernel.ErrSnapshotVersion)
	other := s.State()
	changed := *other.Config
	changed.Version = kernel.Version + 1
	other.Config = &changed
	newer[0].Body = kernel.RootOf(kernel.SnapshotFormat, other)
	require.ErrorIs(t, restore(newer), kernel.ErrSnapshotVersion)
}

// LO-3: the digest is a function of the state alone: two kernels that came to
// it on different ways have the same, and the next event makes another.
func TestDigest(t *testing.T) {
	h := kerneltest.NewHistory(t, 1, 30, kerneltest.NewSeeded(5))
	h.Run(80)
	digest := kernel.Digest(h.State())
	require.Equal(t, digest, kernel.Digest(kerneltest.Restore(t, h.State(), h.Lookup).Publish()))
	incremental := kernel.NewDigester()
	for _, one := range sections(h.Sim) {
		incremental.Add(one)
	}
	require.Equal(t, digest, incremental.Sum())
	h.Pulse()
	require.NotEqual(t, digest, kernel.Digest(h.State()))
}

// Every row of a snapshot can be read back at the limits' upper end.
func TestSnapshotOfFullRows(t *testing.T) {
	s := kerneltest.New(t, 1, func(c *config.Config) { c.InstructionQueue = 1024 })
	id := s.NewID()
	s.Must(event.AgentDefine, event.Define{ID: id, Mode: "service", Program: kerneltest.JSON(t, literal)})
	s.Must(event.AgentTrigger, event.Trigger{Agent: id, Trigger: "spawn"})
	for range 1023 {
		s.Must(event.AgentSubmit, event.Submit{Agent: id})
	}
	session := kerneltest.SessionAt(s.Wall, 1)
	for seq := uint64(1); seq <= 256; seq++ {
		s.Apply(kerneltest.InSession(session, seq, 1, event.AgentKill, event.Kill{Agent: kerneltest.AgentID(9)}))
	}
	require.Len(t, s.Row(id).Execution.Queue, 1024)
	kerneltest.Restore(t, s.State(), s.Lookup)
}

// Rows are written without reflection, and are the bytes that it would give.
func TestRowsAreCanonical(t *testing.T) {
	for seed := range uint64(6) {
		h := kerneltest.NewHistory(t, 1, 40, kerneltest.NewSeeded(seed))
		h.Run(400)
		st := h.State()
		for no := uint32(1); no <= st.Agents.Len(); no++ {
			row := st.Agents.Get(no)
			require.Equal(t, event.Encode(row), kernel.RowBytes(row), "agent %d", no)
		}
	}
	require.Equal(t, event.Encode(&state.Row{}), kernel.RowBytes(&state.Row{}))
}

// The end of the log can be read from a snapshot without rebuilding its state.
func TestLogOfASnapshot(t *testing.T) {
	h := kerneltest.NewHistory(t, 1, 30, kerneltest.NewSeeded(3))
	h.Run(20)
	for i, one := range sections(h.Sim) {
		tables, ok := one.Log()
		require.Equal(t, i == 1, ok, "section %d", i)
		if ok {
			require.Equal(t, h.State().Log, tables)
		}
	}
	broken := sections(h.Sim)[1]
	broken.Body = broken.Body[1:]
	_, ok := broken.Log()
	require.False(t, ok)
}
