package drill

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Drills on real clusters are transcripts in cmd/omni/testdata/faults. Here is
// how they judge.

func TestPercentilesAreNearestRanks(t *testing.T) {
	p50, p99, most := percentiles([]float64{7})
	assert.Equal(t, [3]float64{7, 7, 7}, [3]float64{p50, p99, most})
	values := make([]float64, 200)
	for i := range values {
		values[i] = float64(200 - i)
	}
	p50, p99, most = percentiles(values)
	assert.Equal(t, [3]float64{100, 198, 200}, [3]float64{p50, p99, most})
}

// What counts as the first accepted write.
func TestWhatCountsAsAccepted(t *testing.T) {
	fault := time.Now()
	before, after := fault.Add(-time.Millisecond), fault.Add(time.Millisecond)
	for name, c := range map[string]struct {
		kind  Kind
		write load.Write
		want  bool
	}{
		"begun after the kill":                      {KillLeader, load.Write{Begun: after, Node: "n2"}, true},
		"begun before, answered after":              {KillLeader, load.Write{Begun: before, Node: "n2"}, false},
		"by the leader that was paused":             {PauseLeader, load.Write{Begun: after, Node: "n1"}, true},
		"by the old leader, during the transfer":    {Transfer, load.Write{Begun: after, Node: "n1"}, false},
		"by the new leader, after the transfer":     {Transfer, load.Write{Begun: after, Node: "n2"}, true},
		"by the new leader, begun before the fault": {Transfer, load.Write{Begun: before, Node: "n2"}, false},
	} {
		d := &drill{Options: Options{Kind: c.kind}}
		assert.Equal(t, c.want, d.suits(&Round{Leader: "n1"}, fault)(c.write), name)
	}
}

func TestAReportNamesWhatDidNotHold(t *testing.T) {
	none, some := int64(0), int64(3)
	good := Report{DigestsEqual: true, Valid: true, Reads: &some, StaleReads: &none}
	assert.Empty(t, good.Broken())
	for want, change := range map[string]func(*Report){
		"1 acknowledged commands are lost":                                 func(r *Report) { r.Lost = 1 },
		"2 commands took effect more than once":                            func(r *Report) { r.Duplicated = 2 },
		"1 commands did what their clients were told they did not":         func(r *Report) { r.Contradicted = 1 },
		"3 linearizable reads were stale":                                  func(r *Report) { r.StaleReads = &some },
		"the nodes' digests differ at one index":                           func(r *Report) { r.DigestsEqual = false },
		"there was too little load before a fault: the drill says nothing": func(r *Report) { r.Valid = false },
		"no linearizable read was answered: the drill says nothing":        func(r *Report) { r.Reads = &none },
	} {
		bad := good
		change(&bad)
		assert.Equal(t, []string{want}, bad.Broken())
	}
	doubtful := good
	doubtful.InDoubt = 5
	assert.Empty(t, doubtful.Broken(), "what nobody promised is not broken")
}

func TestLittleLoadIsNotEnough(t *testing.T) {
	assert.InDelta(t, 100, (&drill{Options: Options{Rate: 400}}).leastRate(), 1e-9)
	assert.InDelta(t, 48, (&drill{Options: Options{Rate: 60}}).leastRate(), 1e-9)
}

func well() api.Status {
	node := func(id, role string) api.NodeStatus {
		return api.NodeStatus{ID: id, Role: role, Term: 3, AppliedIndex: 5000, Digest: "aa", Healthy: true}
	}
	return api.Status{Leader: "n1", Term: 3, Nodes: []api.NodeStatus{node("n1", "leader"), node("n2", "follower"), node("n3", "follower")}}
}

func TestWhenAClusterIsWell(t *testing.T) {
	assert.Empty(t, unwell(well()))
	for want, change := range map[string]func(*api.Status){
		"there is no leader":              func(s *api.Status) { s.Leader = "" },
		"n2 is not healthy: it is behind": func(s *api.Status) { s.Nodes[1].Healthy, s.Nodes[1].Reason = false, "it is behind" },
		"n3 is in another term":           func(s *api.Status) { s.Nodes[2].Term = 2 },
		"n3 is behind":                    func(s *api.Status) { s.Nodes[2].AppliedIndex = 3999 },
	} {
		bad := well()
		change(&bad)
		assert.Equal(t, want, unwell(bad))
	}
	notLeading := well()
	notLeading.Nodes[0].Role = "follower"
	assert.Equal(t, "there is no leader", unwell(notLeading))
}

// LO-3: equal index, equal digest. Unequal indices say nothing.
func TestWhenNodesDiffer(t *testing.T) {
	s := well()
	assert.False(t, differ(s))
	s.Nodes[2].Digest = "bb"
	assert.True(t, differ(s))
	s.Nodes[2].AppliedIndex++
	assert.False(t, differ(s))
	s.Nodes[1].Digest = ""
	assert.False(t, differ(s), "a node that did not answer")
}

func TestLeadersAreReadFromTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		record := func(body string) api.Record { return api.Record{Kind: "EVENT", Body: json.RawMessage(body)} }
		_, ok := leaderStarted(record(`{"event":"PULSE","wall_ms":5}`))
		assert.False(t, ok)
		begun, ok := leaderStarted(record(`{"event":"LEADER_STARTED","wall_ms":1500,"body":{"node":"n2","term":7}}`))
		assert.True(t, ok)
		assert.Equal(t, Leadership{"n2", 7, time.UnixMilli(1500)}, begun)

		var l Leaders
		l.add(Leadership{Node: "n1", Term: 6})
		go func() {
			time.Sleep(time.Second)
			l.add(begun)
		}()
		next, ok := l.Await(nil, 6)
		assert.True(t, ok)
		assert.Equal(t, begun, next)
		done := make(chan struct{})
		close(done)
		_, ok = l.Await(done, 7)
		assert.False(t, ok)
	})
}

func TestRoundsAreTold(t *testing.T) {
	after := 12.0
	round := Round{Round: 2, Leader: "n1", PauseMillis: 600, NewLeader: "n2", NewLeaderMillis: &after, FirstWrite: 15.25, Accepted: "n2"}
	assert.Equal(t, "round 2 of 5: n1 paused for 600 ms, n2 leads after 12 ms, first write after 15.2 ms by n2", round.sentence(5))
	round = Round{Round: 1, Leader: "n1", FirstWrite: 3, Accepted: "n1"}
	assert.Equal(t, "round 1 of 1: n1, first write after 3.0 ms by n1", round.sentence(1))
}
