package httpapi

import (
	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/budgets"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/transport/api"
)

// accounts describes those that an agent draws on, the lowest first (RU-3).
func accounts(v *cluster.View, no uint32) (all []api.Account) {
	v.Budgets.Up(v.Account(no), func(a *budgets.Account) bool {
		spent := func(k budgets.Kind, settled, reserved, overrun uint64) api.Spent {
			return api.Spent{Limit: a.Limits.Of(k), Settled: settled, Reserved: reserved, Overrun: overrun, Exceeded: a.HasPassed(k)}
		}
		all = append(all, api.Account{
			AgentID:     flows.FormatID(v.Agents.Get(a.Agent).Identity.ID),
			Tokens:      spent(budgets.Tokens, a.Settled.Tokens, a.Reserved.Tokens, a.Overrun.Tokens),
			USDMicros:   spent(budgets.USDMicros, a.Settled.USDMicros, a.Reserved.USDMicros, a.Overrun.USDMicros),
			Wall:        api.SpentTime{Limit: a.Limits.WallMillis, Used: a.Worked(v.Clock), Running: a.Since != 0, Exceeded: a.HasPassed(budgets.WallMillis)},
			WarnPercent: a.Limits.WarnPercent, Waiting: a.Waiting,
		})
		return true
	})
	return all
}
