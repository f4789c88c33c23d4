package cluster_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
)

// RU-3, RU-5, RU-6: sixty siblings draw on one account, of which not half fits in at
// once, and their leader ends in the middle: the account is never overspent, every
// call is made, and what is settled is what the service said, to the token.
func TestSiblingsShareABudgetAcrossAFailover(t *testing.T) {
	const siblings, declared, used, limit = 60, 10, 7, 250
	var answered atomic.Int64
	gone := make(chan struct{}) // closed when the leader goes
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if answered.Add(1) > siblings/4 {
			<-gone
		}
		w.Header().Set(httprequest.UsageHeader, "tokens=7, usd-micros=70")
	}))
	t.Cleanup(service.Close)
	adapter := httprequest.New(httprequest.Options{})
	t.Cleanup(adapter.Close)
	c := newTrio(t, func(c *trio) { c.adapters = []tools.Adapter{adapter} })
	// Sixty calls of ten do not fit into 250: most wait, and there is an end to what
	// may be spent, so the limit is raised once.
	root := c.do(event.AgentStart, event.Start{Define: event.Define{
		ID: kerneltest.AgentID(1), Grants: kerneltest.Everything(), Budget: &event.Budget{Tokens: limit},
		Program: kerneltest.JSON(t, `{"kind":"DELEGATE","payload":{"children":{"over":"${range(60)}","as":"i","child":{
			"grants":[{"effect":"ALLOW","action":"tool.call","resource":"**"}],
			"program":{"kind":"CALL","payload":{"tool":"http.request","args":{"url":"`+service.URL+`","cost":{"tokens":10}}}}}}}}`),
	}})
	require.Empty(t, root.Refusal)
	const no = 1
	account := func(view *cluster.View) budgets.Account {
		a, ok := view.Budgets.Get(no)
		require.True(t, ok)
		require.LessOrEqual(t, a.Settled.Tokens+a.Reserved.Tokens, a.Limits.Tokens)
		return *a
	}
	require.Eventually(t, func() bool { return answered.Load() > 5 }, 20*time.Second, time.Millisecond)
	more := uint64(siblings * declared)
	raised := c.do(event.BudgetSet, event.SetBudget{Agent: kerneltest.AgentID(1), Tokens: &more, Reason: "all of them"})
	require.Empty(t, raised.Refusal)
	view := c.newest(raised.Index)
	require.Less(t, account(&view).Settled.Tokens, uint64(siblings*used), "not all is done")
	victim := c.leader()
	close(gone)
	c.stop(victim)
	require.Eventually(t, func() bool {
		view := c.newest(raised.Index)
		account(&view)
		return view.Agents.Get(no).Lifecycle.State == lifecycle.Terminated
	}, 60*time.Second, 5*time.Millisecond)
	view = c.newest(raised.Index)
	result := view.Agents.Get(no).Execution.Result
	require.True(t, result.OK, "%+v", result)
	require.Equal(t, budgets.Amounts{Tokens: siblings * used, USDMicros: siblings * used * 10}, account(&view).Settled)
	require.True(t, account(&view).Reserved.Zero())
	require.GreaterOrEqual(t, answered.Load(), int64(siblings))
	c.start(victim)
	c.sameDigests()
}
