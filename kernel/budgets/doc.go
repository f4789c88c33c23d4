// Package budgets keeps the accounts that agents draw on: what an agent, with
// everything below it in the delegation tree, may spend, what calls under way may
// yet come to, and what has been spent (RU-3).
//
// An agent that was defined with a budget holds an account. Before a call leaves
// the kernel its declared maximum is reserved in the account of the agent that
// asks and in every account above; what the call came to is settled in all of
// them. A reservation for which there is room only once others are settled waits,
// in the order of asking. So siblings cannot overspend together, whoever leads:
// reservations and settlements are records like any other.
//
// Tables are written by the Apply methods alone, one for each kind of record;
// package flows decides them. Nothing here reads a clock: moments come with records.
package budgets
