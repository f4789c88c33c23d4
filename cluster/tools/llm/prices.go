package llm

import (
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// prices are micro-dollars for a million tokens: of the conversation that is sent, and
// of the answer. 0 where nothing is said, as for a model that runs at home.
type prices struct{ input, output uint64 }

const (
	maxPrice   = 10_000_000_000
	perTokens  = 1_000_000
	maxCounted = 1 << 28 // tokens of one call that are believed; the product fits with them
)

func (p *prices) read(raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	members, ok := rd.ReadMapHeader()
	if !ok {
		return wrong("config.prices", "must be an object of input and output")
	}
	for range members {
		name, _ := rd.ReadString()
		n, ok := rd.Skip().Int()
		field := value.JoinKey("config", value.JoinKey("prices", value.JoinKey(name, "")))
		if name != "input" && name != "output" {
			return wrong(field, "is no price that there is: there are input and output")
		}
		if !ok || n < 0 || n > maxPrice {
			return wrong(field, "must be micro-dollars for a million tokens, an integer from 0 to 10000000000")
		}
		if name == "input" {
			p.input = uint64(n)
		} else {
			p.output = uint64(n)
		}
	}
	return nil
}

// of is what so many tokens cost, rounded up.
func (p *prices) of(input, output uint64) (usdMicros uint64) {
	return (min(input, maxCounted)*p.input + min(output, maxCounted)*p.output + perTokens - 1) / perTokens
}

// usage is what the service says that a request came to; not metered if it says
// nothing that can be read.
func (p *prices) usage(answer map[string]any) kerneltools.Usage {
	said, _ := answer["usage"].(map[string]any)
	input, known := said["prompt_tokens"].(int64)
	output, also := said["completion_tokens"].(int64)
	if !known || !also || input < 0 || output < 0 {
		return kerneltools.Usage{}
	}
	return kerneltools.Usage{Metered: true, Tokens: uint64(input) + uint64(output), USDMicros: p.of(uint64(input), uint64(output))}
}
