package load

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// CL-2: what was told about a command is compared with what is there.
func TestAuditJudgesEachCommand(t *testing.T) {
	for name, c := range map[string]struct {
		write Write
		found []string
		want  Audit
		kept  bool
	}{
		"done":               {Write{Fate: Acknowledged, AgentID: "a"}, []string{"a"}, Audit{Acknowledged: 1}, true},
		"lost":               {Write{Fate: Acknowledged, AgentID: "a"}, nil, Audit{Acknowledged: 1, Lost: 1}, false},
		"duplicated":         {Write{Fate: Acknowledged, AgentID: "a"}, []string{"a", "b"}, Audit{Acknowledged: 1, Duplicated: 1}, false},
		"another agent":      {Write{Fate: Acknowledged, AgentID: "a"}, []string{"b"}, Audit{Acknowledged: 1, Contradicted: 1}, false},
		"refused":            {Write{Fate: Refused}, nil, Audit{Refused: 1}, true},
		"refused, yet there": {Write{Fate: Refused}, []string{"a"}, Audit{Refused: 1, Contradicted: 1}, false},
		"in doubt":           {Write{Fate: InDoubt}, nil, Audit{InDoubt: 1}, true},
		"settled":            {Write{Fate: InDoubt}, []string{"a"}, Audit{Settled: 1}, true},
		"in doubt, twice":    {Write{Fate: InDoubt}, []string{"a", "b"}, Audit{Duplicated: 1}, false},
	} {
		c.write.Name = "x"
		got := compare([]Write{c.write}, map[string][]string{"x": c.found, "of another load": {"z"}})
		c.want.Commands = 1
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.kept, got.Kept(), name)
	}
}

func TestFateFollowsTheError(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Fate
	}{
		{nil, Acknowledged},
		{&api.Error{Code: "NO_LEADER", Definite: true}, Refused},
		{&client.Unreachable{}, Refused},
		{&api.Error{Code: "LEADERSHIP_LOST"}, InDoubt},
		{&client.Unknown{}, InDoubt},
		{errors.New("anything else"), InDoubt},
	} {
		assert.Equal(t, c.want, FateOf(c.err), "%v", c.err)
	}
}

func TestLedgerFindsWhatCameAfterAMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l Ledger
		_, ok := l.LastAck()
		assert.False(t, ok)
		l.Add(Write{Name: "before", Fate: Acknowledged, Node: "n1"})
		mark := l.Len()
		go func() {
			for _, w := range []Write{
				{Name: "refused", Fate: Refused, Node: "n2"},
				{Name: "by the old one", Fate: Acknowledged, Node: "n1"},
				{Name: "by the new one", Fate: Acknowledged, Node: "n2"},
			} {
				time.Sleep(time.Second)
				w.Ended = time.Now()
				l.Add(w)
			}
		}()
		begun := time.Now()
		w, ok := l.AwaitAck(nil, mark, func(w Write) bool { return w.Node == "n2" })
		assert.True(t, ok)
		assert.Equal(t, "by the new one", w.Name)
		assert.Equal(t, 3*time.Second, time.Since(begun))
		last, ok := l.LastAck()
		assert.True(t, ok)
		assert.Equal(t, w, last)
		assert.Equal(t, 1, l.AckedBetween(begun, begun.Add(3*time.Second)))
		assert.Equal(t, 2, l.AckedBetween(begun, begun.Add(4*time.Second)))

		done := make(chan struct{})
		close(done)
		_, ok = l.AwaitAck(done, l.Len(), func(Write) bool { return true })
		assert.False(t, ok)
	})
}
