package traffic_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/jepsen/traffic"
	"github.com/omnikernel/omnikernel/jepsen/traffic/traffictest"
)

// killsLeader kills whoever leads, and starts it again a second later.
func killsLeader(c *traffictest.Cluster) func() {
	return func() {
		leader := c.Leader()
		c.Kill(leader)
		<-time.After(time.Second)
		c.Restart(leader)
		<-time.After(time.Second)
	}
}

// pausesAll stops one node after the other for longer than an election takes.
func pausesAll(c *traffictest.Cluster) func() {
	return func() {
		for i := range c.Env.Nodes {
			c.Pause(i)
			<-time.After(1500 * time.Millisecond)
			c.Resume(i)
			c.Well()
		}
	}
}

// valid demands that a checker finds nothing.
func valid(t *testing.T, v check.Verdict) {
	t.Helper()
	t.Logf("%s: %s, %v, %d ms", v.Checker, v.Word, v.Figures, v.Millis)
	require.Equal(t, check.Valid, v.Word, "%+v", v.Findings)
}

// CL-4: what one node answers is as new as it says, and a node that slept does not
// take the past for the present.
func TestReads(t *testing.T) {
	c := traffictest.Start(t, 3)
	e := c.Run(time.Second, traffic.Pace{Rate: 500}, pausesAll(c), traffic.Load{Workload: new(traffic.Readers), Workers: 12})
	v := check.Reads{}.Check(t.Context(), e)
	valid(t, v)
	require.NotZero(t, v.Figures["reads from an index"])
	require.Greater(t, v.Figures["oldest answer ms"], int64(100), "answers that are old, and say so")
}

// CL-1, CL-3, CL-4, CL-5: through the death of the leader, the registers are
// linearizable, every stream is the log, wherever it goes on, and answers of single
// nodes are as new as they say.
func TestWorkloads(t *testing.T) {
	c := traffictest.Start(t, 3)
	e := c.Run(time.Second, traffic.Pace{}, killsLeader(c), traffic.Load{Workload: new(traffic.Register), Workers: 6},
		traffic.Load{Workload: new(traffic.Streams), Workers: 3}, traffic.Load{Workload: new(traffic.Readers), Workers: 3})
	v := check.Register{Pictures: true}.Check(t.Context(), e)
	valid(t, v)
	require.Greater(t, v.Figures["operations"], int64(300))
	require.NotZero(t, v.Figures["conflicts"])
	require.NotEmpty(t, v.Files)
	v = check.Stream{}.Check(t.Context(), e)
	valid(t, v)
	require.EqualValues(t, 3, v.Figures["streams"])
	valid(t, check.Reads{}.Check(t.Context(), e))
	valid(t, check.Effects{}.Check(t.Context(), e))
	valid(t, check.Harness{}.Check(t.Context(), e))
	valid(t, check.Replicas{}.Check(t.Context(), e))
	spoilt(t, e)
}

// spoilt takes what was recorded, and makes one answer of it wrong at a time: each
// time the checker has to say so.
func spoilt(t *testing.T, e *check.Evidence) {
	t.Helper()
	last := func(workload, name string) *history.Op {
		for i := len(e.Ops) - 1; i >= 0; i-- {
			if op := &e.Ops[i]; op.Workload == workload && op.Name == name && op.Outcome == history.Ok && op.Index > 100 {
				return op
			}
		}
		t.Fatalf("there is no %s of %s", name, workload)
		return nil
	}
	invalid := func(c check.Checker, what string) {
		t.Helper()
		v := c.Check(t.Context(), e)
		require.Equal(t, check.Invalid, v.Word, what)
		require.NotEmpty(t, v.Findings)
	}
	for _, name := range []string{model.Read, model.Write, model.Swap} {
		op := last(model.Register, name)
		kept := op.Out
		op.Out = json.RawMessage(`{"value":1,"version":2}`)
		invalid(check.Register{}, name)
		op.Out = kept
	}
	op := last(model.Register, model.Write)
	op.Sent.Body = json.RawMessage(`{"namespace":"register"}`)
	invalid(check.Effects{}, "a command that was not sent like that")
	op = last(model.Reads, model.Read)
	kept := op.Out
	op.Out = json.RawMessage(`{"lag_ms":0}`)
	invalid(check.Reads{}, "not found any more")
	op.Out, op.Index = kept, 3
	invalid(check.Reads{}, "the past")
	at := len(e.Seen) / 2
	e.Seen[at].Sum = "0"
	invalid(check.Stream{}, "another record")
	e.Log[len(e.Log)/2].Term += 3
	invalid(check.Replicas{}, "another log")
	e.Ends[0].Digest = "0"
	invalid(check.Replicas{}, "another digest")
}
