package client

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
)

// What is written by hand is what reflection would write.
func TestBatchBodyIsAnAPIBatch(t *testing.T) {
	commands := []api.Command{
		api.NewCommand(event.Define{Name: "a \"name\" <&>", Labels: map[string]string{"k": "v\n"}}),
		api.NewCommand(event.Kill{Agent: "x"}),
		api.NewCommand(event.Trigger{Agent: "y", Trigger: "spawn"}),
	}
	for name, open := range map[string][]pendingCommand{
		"in a session": {{at: 0, ticket: ticket{seq: 7}}, {at: 2, ticket: ticket{seq: 9}}},
		"plain":        {{at: 0}, {at: 1}, {at: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			var want api.Batch
			for _, one := range open {
				c := commands[one.at]
				c.Sequence = one.ticket.seq
				want.Commands = append(want.Commands, c)
			}
			reflected, err := json.Marshal(want)
			require.NoError(t, err)
			got, err := (&part{commands: commands, open: open}).body()
			require.NoError(t, err)
			assert.JSONEq(t, string(reflected), string(got))
		})
	}
}

// A command that somebody made by hand must not become another one.
func TestBatchBodyTakesWholeCommandsOnly(t *testing.T) {
	for name, c := range map[string]api.Command{
		"no JSON":    {Op: api.OpKill, Body: json.RawMessage(`{}},{"op":"define","body":{}`)},
		"no body":    {Op: api.OpKill},
		"unknown op": {Op: `kill","x":"`, Body: json.RawMessage(`{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := (&part{commands: []api.Command{c}, open: []pendingCommand{{}}}).body()
			var usage *Usage
			assert.ErrorAs(t, err, &usage)
		})
	}
}
