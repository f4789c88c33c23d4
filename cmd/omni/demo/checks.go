package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/drill"
	"github.com/omnikernel/omnikernel/cmd/omni/load"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// histories reads the agent's life from every node, the one that was killed
// included, and compares.
func (d *demo) histories(ctx context.Context) error {
	d.step("Its life, as each node has it in its own log:")
	index := d.client.LastIndex()
	for _, node := range d.cluster.File().Nodes {
		page, err := d.history(ctx, node.API, index)
		if err != nil {
			return fmt.Errorf("read the history from %s: %w", node.ID, err)
		}
		d.sum.Histories = append(d.sum.Histories, NodeHistory{page.Node, page.Index, page.Transitions})
	}
	first := d.sum.Histories[0]
	d.Tell.Story(func(p *tell.Page) { transitions(p, first.Transitions) })
	for _, other := range d.sum.Histories {
		same := slices.Equal(first.Transitions, other.Transitions)
		d.sum.require(same, "%s has another history than %s", other.Node, first.Node)
		d.line("%s: %d transitions, read at index %d%s", other.Node, len(other.Transitions), other.Index, verdict(same, "", ", NOT the same"))
	}
	return nil
}

func transitions(p *tell.Page, all []api.Transition) {
	rows := make([][]string, 0, len(all))
	for _, t := range all {
		rows = append(rows, []string{
			" ", strconv.FormatUint(t.BusSeq, 10), strconv.FormatUint(t.Index, 10), t.From, t.Trigger, t.To, t.Caller,
		})
	}
	p.Table([]string{" ", "BUSSEQ", "INDEX", "FROM", "TRIGGER", "TO", "BY"}, rows)
}

func verdict(ok bool, good, bad string) string {
	if ok {
		return good
	}
	return bad
}

// toolCalls compares the calls that the log has with those the service saw.
func (d *demo) toolCalls(ctx context.Context) error {
	recorded := make(map[string]bool)
	for record, err := range d.client.Records(ctx, api.LogQuery{Agent: d.sum.AgentID}) {
		if err != nil {
			return err
		}
		var body struct{ Call uint32 }
		if record.Kind == "CALL_REQUESTED" && json.Unmarshal(record.Body, &body) == nil {
			recorded[fmt.Sprintf("%s-%d-%d", record.AgentID, record.Tick, body.Call)] = true
		}
	}
	seen := d.service.seen()
	d.sum.ToolCalls, d.sum.ToolEffects = len(recorded), len(seen)
	for key, call := range seen {
		d.sum.ToolDeliveries += call.Deliveries
		d.sum.require(recorded[key], "the service was called under %s, which the log does not have", key)
	}
	d.sum.require(len(recorded) == len(people), "the log has %d calls, not %d", len(recorded), len(people))
	d.sum.require(len(seen) == len(recorded), "the service did %d greetings, not %d", len(seen), len(recorded))
	d.step("Its tool:")
	d.line("%d calls in the log, %d greetings done, %d requests received: the interrupted call came again,",
		d.sum.ToolCalls, d.sum.ToolEffects, d.sum.ToolDeliveries)
	d.line("from the new leader, under the same Idempotency-Key")
	return nil
}

// books compares what clients were told during the failover with what is
// there.
func (d *demo) books(ctx context.Context) error {
	audit, err := load.Examine(ctx, d.client, d.load, d.ledger.Writes())
	if err != nil {
		return err
	}
	d.sum.Audit = audit
	d.step("The commands of %d other clients, all the while:", clients)
	d.line("%d sent, %d acknowledged, %d refused, %d without an answer", audit.Commands, audit.Acknowledged, audit.Refused,
		audit.InDoubt+audit.Settled)
	d.line("lost: %d, duplicated: %d", audit.Lost, audit.Duplicated)
	d.sum.require(audit.Lost == 0, "%d acknowledged commands are lost", audit.Lost)
	d.sum.require(audit.Duplicated == 0, "%d commands took effect more than once", audit.Duplicated)
	d.sum.require(audit.Contradicted == 0, "%d commands did what their clients were told they did not", audit.Contradicted)
	d.sum.require(audit.Acknowledged > 0, "no command was acknowledged")
	return nil
}

// digests waits until all nodes have applied the same, and compares.
func (d *demo) digests(ctx context.Context) error {
	status, alike, err := drill.AwaitAlike(ctx, d.client, 30*time.Second)
	if err != nil {
		return err
	}
	d.sum.DigestsEqual = alike
	d.sum.require(alike, "the nodes' digests differ")
	if len(status.Nodes) > 0 {
		d.sum.Digest, d.sum.Index = status.Nodes[0].Digest, status.Nodes[0].AppliedIndex
	}
	d.step("The digest of everything, on each node:")
	for _, n := range status.Nodes {
		d.line("%s  index %d  %s", n.ID, n.AppliedIndex, n.Digest)
	}
	return nil
}
