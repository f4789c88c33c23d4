package main

import (
	"github.com/spf13/cobra"
)

func newAgentCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "agent",
		Short: "An agent's life: define, start, look, end",
		Long: `An agent is defined once, then spawned, activated, and it runs its program until
that ends, fails, or somebody ends it. start does the first three in one.

What changes an agent's state is one command, exactly once: a retry after a lost
answer gets the first answer. What may not be done in a state is refused with
INVALID_TRANSITION, and nothing changes.`,
		Args: onlySubcommands,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddGroup(
		&cobra.Group{ID: groupBegin, Title: "To begin an agent:"},
		&cobra.Group{ID: groupWork, Title: "To steer it:"},
		&cobra.Group{ID: groupOperate, Title: "To look at it:"},
	)
	add := func(group string, commands ...*cobra.Command) {
		for _, sub := range commands {
			sub.GroupID = group
			c.AddCommand(sub)
		}
	}
	add(groupBegin, newAgentStart(a), newAgentDefine(a), newAgentCheck(a), newAgentSchema(a), newAgentFork(a), newAgentTrigger(a, spawn), newAgentTrigger(a, activate))
	add(groupWork, newAgentSubmit(a), newAgentSend(a), newAgentTrigger(a, suspend), newAgentTrigger(a, resume), newAgentTrigger(a, expire),
		newAgentBudget(a), newAgentReclassify(a), newAgentTrigger(a, recoverFault), newAgentTrigger(a, abandon), newAgentKill(a))
	add(groupOperate, newAgentGet(a), newAgentList(a), newAgentTree(a), newAgentHistory(a), newAgentFaults(a), newAgentWatch(a), newAgentExport(a))
	return c
}
