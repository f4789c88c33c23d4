package show

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

func TestAccountsAreShownUpwards(t *testing.T) {
	a := api.Agent{AgentID: "a2", As: api.As{Index: 9, Node: "n2"}, Accounts: []api.Account{
		{
			AgentID: "a2", Tokens: api.Spent{Limit: 1000, Settled: 1300, Reserved: 20, Overrun: 310, Exceeded: true}, Waiting: 2,
			Wall: api.SpentTime{Limit: 5_400_000, Used: 1500},
		},
		{AgentID: "a1", USDMicros: api.Spent{Limit: 2_500_000, Settled: 10}, Tokens: api.Spent{Settled: 1300}},
	}}
	assert.Equal(t, `account       its own
tokens        1300 tokens of 1000 tokens, 130 %, and 20 tokens reserved, of it 310 tokens beyond what calls had declared: EXCEEDED
time at work  1.5s of 1h30m0s, standing still
waiting       2

account     held by a1
tokens      1300 tokens
US dollars  $0.00001 of $2.50, 0 %

index 9 on n2
`, page(func(p *tell.Page) { Budget(p, a) }))
	assert.Equal(t, "a1 has no budget: nothing limits what it spends\nindex 9 on n2\n",
		page(func(p *tell.Page) { Budget(p, api.Agent{AgentID: "a1", As: a.As}) }))
	for micros, want := range map[uint64]string{0: "$0.00", 1: "$0.000001", 2_500_000: "$2.50", 10_000_001: "$10.000001", 120_000: "$0.12", 1_000_000_000: "$1000.00"} {
		assert.Equal(t, want, dollars(micros))
	}
	assert.EqualValues(t, 49, percent(1<<60, 1<<61))
}
