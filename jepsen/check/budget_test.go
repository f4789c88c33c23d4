package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
	"github.com/omnikernel/omnikernel/transport/api"
)

// budgetWritten is agent a1 with an account of 20 tokens, on which it draws three times:
// once the service says what it cost, once it says nothing, and once it is not called.
func budgetWritten(b *book) {
	b.send(model.Budgets, "start", "a1", model.BudgetIn{Limit: 20}, "AGENT_START", map[string]any{"agent": map[string]any{"id": "a1"}}, "a1", "ACTIVE")
	b.record("BUDGET_OPENED", "a1", map[string]any{"tokens": 20})
	reserve := func(call int) { b.call("BUDGET_RESERVED", call, map[string]any{"account_id": "a1", "tokens": 10}) }
	settle := func(call int, how string, tokens uint64) {
		b.event("TOOL_RESULT", nil, nil)
		b.call("BUDGET_SETTLED", call, map[string]any{"how": how, "tokens": tokens})
	}
	reserve(1)
	reserve(2)
	b.hit("a1-1-1", model.FateAnswered)
	settle(1, "reported", model.UsageOf("a1-1-1"))
	b.op(history.Op{
		Workload: model.Budgets, Name: "account", Key: "a1", Outcome: history.Ok, Index: b.index,
		Out: b.json([]api.Account{{AgentID: "a1", Tokens: api.Spent{Settled: model.UsageOf("a1-1-1"), Reserved: 10}}}),
	})
	settle(2, "returned", 0)
	b.event("BUDGET_SET", map[string]any{"agent": "a1"}, nil)
	b.record("BUDGET_CHANGED", "a1", map[string]any{"tokens": 40})
	reserve(3)
	b.hit("a1-1-3", model.FateDropped)
	settle(3, "assumed", 10)
}

// outlive adds a reservation that stays open until 700 ms, and nobody who waits.
func (b *book) outlive(call int) {
	b.call("BUDGET_RESERVED", call, map[string]any{"account_id": "a1", "tokens": 1, "deadline_ms": 700})
	b.call("BUDGET_OUTLIVED", call, map[string]any{"timer_id": 3})
}

// What nobody waits for may stay reserved until the call's deadline, also when the log
// ends before it.
func TestReservationsThatOutliveTheLog(t *testing.T) {
	b := newBook(t)
	budgetWritten(b)
	b.outlive(9)
	b.record("CHECKPOINT", "", nil)
	b.e.Log[len(b.e.Log)-1].AtMillis = 699
	verdict := check.Budgets{}.Check(t.Context(), b.e)
	assert.Equal(t, check.Valid, verdict.Word, "%+v", verdict.Findings)
	assert.EqualValues(t, 1, verdict.Figures["open until their deadline"])
}

// RU-3, RU-5
func TestBudgets(t *testing.T) {
	finds(t, check.Budgets{}, budgetWritten, []wrong{
		{"more than there is", func(b *book) { b.change(4, "tokens", 17) }, "has 20 tokens"},
		{"settled at another amount than was told", func(b *book) { b.change(7, "tokens", 12-model.UsageOf("a1-1-1")) }, "and the service said"},
		{"told by nobody", func(b *book) { b.e.Hits[0].Fate = model.FateDropped }, "answered no such call"},
		{"assumed at another amount", func(b *book) { b.change(b.last("BUDGET_SETTLED"), "tokens", 9) }, "had declared 10"},
		{"called and charged nothing", func(b *book) { b.hit("a1-1-2", model.FateDropped) }, "it reached the service"},
		{"not called and charged", func(b *book) { b.change(9, "tokens", 1) }, "was not made, and is charged"},
		{"settled twice", func(b *book) { b.call("BUDGET_SETTLED", 1, map[string]any{"how": "assumed", "tokens": 10}) }, "nothing is reserved for it"},
		{"reserved twice", func(b *book) { b.change(5, "call", 1) }, "and again at"},
		{"never settled", func(b *book) { b.call("BUDGET_RESERVED", 9, map[string]any{"account_id": "a1", "tokens": 1}) }, "was never settled"},
		{"outlived and over, and never settled", func(b *book) {
			b.outlive(9)
			b.record("CHECKPOINT", "", nil)
			b.e.Log[len(b.e.Log)-1].AtMillis = 700
		}, "was never settled"},
		{"an account of nobody", func(b *book) { b.change(4, "account_id", "a9") }, "which has none"},
		{"read with other sums", func(b *book) {
			for i := range b.e.Ops {
				if b.e.Ops[i].Name == "account" {
					b.e.Ops[i].Out = b.json([]api.Account{{AgentID: "a1", Tokens: api.Spent{Reserved: 20}}})
				}
			}
		}, "with 20 tokens reserved"},
	})
}
