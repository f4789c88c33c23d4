package load

import (
	"context"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Audit is what became of the commands of a load. What was promised and not
// kept is Lost, Duplicated and Contradicted; InDoubt is what nobody promised.
type Audit struct {
	Commands     int `json:"commands"`
	Acknowledged int `json:"acknowledged"`
	Refused      int `json:"refused"`
	InDoubt      int `json:"in_doubt"`     // no outcome was told, and there is no trace of it
	Settled      int `json:"settled"`      // no outcome was told, and it took effect once
	Lost         int `json:"lost"`         // acknowledged, and not there
	Duplicated   int `json:"duplicated"`   // there more than once
	Contradicted int `json:"contradicted"` // refused, yet there; or there as another agent than was told
}

// Kept reports whether every promise was.
func (a *Audit) Kept() bool { return a.Lost == 0 && a.Duplicated == 0 && a.Contradicted == 0 }

// Examine reads back, linearizably, what the cluster holds of a load, and
// compares it with the ledger.
func Examine(ctx context.Context, c *client.Client, name string, writes []Write) (Audit, error) {
	found := make(map[string][]string, len(writes)) // agents by name
	query := api.AgentQuery{Labels: map[string]string{Label: name}, Limit: api.MaxPageItems}
	for agent, err := range c.AllAgents(ctx, query) {
		if err != nil {
			return Audit{}, err
		}
		found[agent.Name] = append(found[agent.Name], agent.AgentID)
	}
	return compare(writes, found), nil
}

// compare judges each command by what was told about it and what is there.
func compare(writes []Write, found map[string][]string) Audit {
	audit := Audit{Commands: len(writes)}
	for _, w := range writes {
		ids := found[w.Name]
		if len(ids) > 1 {
			audit.Duplicated++
		}
		switch w.Fate {
		case Acknowledged:
			audit.Acknowledged++
			switch {
			case len(ids) == 0:
				audit.Lost++
			case len(ids) == 1 && ids[0] != w.AgentID:
				audit.Contradicted++
			}
		case Refused:
			audit.Refused++
			if len(ids) > 0 {
				audit.Contradicted++
			}
		default:
			switch len(ids) {
			case 0:
				audit.InDoubt++
			case 1:
				audit.Settled++
			}
		}
	}
	return audit
}
