package logaudit_test

import (
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logaudit"
)

// budgetForgeries are lies about money.
var budgetForgeries = []untruth{
	{"room that there is not", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetReserved, 2, 1)
		edit(f, r, func(b *budgets.Reserved) { b.Cost.Tokens = 96 })
		return r
	}},
	{"the account of somebody else", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetReserved, 2, 0)
		edit(f, r, func(b *budgets.Reserved) { b.Account = 1 })
		return r
	}},
	{"settled at less than was reported", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetSettled, 2, 0)
		edit(f, r, func(b *budgets.Settled) { b.Used.Tokens-- })
		return r
	}},
	{"settled at less than was declared", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetSettled, 1, 1)
		edit(f, r, func(b *budgets.Settled) { b.Used.USDMicros++ })
		return r
	}},
	{"made, and charged nothing", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetSettled, 2, 1)
		edit(f, r, func(b *budgets.Settled) { b.How = budgets.Returned })
		return r
	}},
	{"settled twice", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetSettled, 2, 1)
		f.copy(r, f.nth(bus.BudgetSettled, 2, 0))
		return r
	}},
	{"an overrun that is kept quiet", logaudit.Budget, "money", func(f *forgery) *written {
		f.blank(f.nth(bus.BudgetOverrun, 1, 0))
		return f.nth(bus.BudgetSettled, 1, 0)
	}},
	{"limits that nobody asked for", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.TimerCleared, 2, 0)
		f.put(r, bus.Record{Kind: bus.BudgetChanged, Agent: 2, Body: &budgets.Changed{Limits: budgets.Limits{Tokens: 100, WarnPercent: 80}}})
		return r
	}},
	{"a second account", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.TimerSet, 2, 0)
		f.put(r, bus.Record{Kind: bus.BudgetOpened, Agent: 2, Body: &budgets.Opened{}})
		return r
	}},
	{"an account below one that is not there", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.TimerCleared, 2, 0)
		f.put(r, bus.Record{Kind: bus.BudgetOpened, Agent: 77, Body: &budgets.Opened{Above: 3}})
		return r
	}},
	{"a warning of something else", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetWarning, 1, 0)
		edit(f, r, func(b *budgets.Mark) { b.Used-- })
		return r
	}},
	{"exceeded, and it is not", logaudit.Budget, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetExceeded, 1, 0)
		edit(f, r, func(b *budgets.Mark) { b.Wanted = 5 })
		return r
	}},
	{"another call that waited for room", logaudit.Unjudged, "money", func(f *forgery) *written {
		r := f.nth(bus.BudgetWaiting, 2, 0)
		edit(f, r, func(b *budgets.Waiting) { b.Resource = "http.request/POST/h/x" })
		return r
	}},
	{"let in unjudged", logaudit.Unjudged, "money", func(f *forgery) *written {
		f.blank(f.nth(bus.Allow, 2, 2))
		return f.nth(bus.CallRequested, 2, 1)
	}},
}
