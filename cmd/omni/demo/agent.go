package demo

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/examples"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// people are greeted; the leader is killed during one greeting.
var people = [...]string{"Ada", "Grace", "Barbara"}

// held is the greeting during which the leader is killed: neither the first
// nor the last, so that there is a result before it and work after it.
const held = 1

// begin starts the agent of examples/hello.
func (d *demo) begin(ctx context.Context) (id string, err error) {
	d.step("Starting %s: it greets %s, one call of http.request each.", examples.HelloName, list(people[:]))
	f, err := agentfile.Parse(examples.HelloName, examples.HelloAgent, agentfile.Agent)
	if err != nil {
		return "", err
	}
	start := event.Start{Reason: "omni demo"}
	if err := json.Unmarshal(f.Document(), &start.Define); err != nil {
		return "", err
	}
	var names, greetings []any
	for _, name := range people {
		names = append(names, name)
		greetings = append(greetings, start.Define.Env["GREETING"]+", "+name)
	}
	start.Input = raw(map[string]any{"service": d.service.URL, "people": names})
	d.sum.Expected = raw(map[string]any{"greetings": greetings, "count": len(people)})
	done, err := d.client.Start(ctx, start)
	if err != nil {
		return "", err
	}
	d.sum.AgentID = done.AgentID
	d.line("agent %s, at index %d", done.AgentID, done.Index)
	return done.AgentID, nil
}

func raw(v any) value.Raw {
	out, problem := value.FromGo(v)
	if problem != nil {
		panic("demo: a value of its own that is none: " + problem.String())
	}
	return out
}

func list(names []string) string {
	last := len(names) - 1
	text := ""
	for i, name := range names {
		switch {
		case i == last && i > 0:
			text += " and "
		case i > 0:
			text += ", "
		}
		text += name
	}
	return text
}

func sprintf(format string, args ...any) string { return fmt.Sprintf(format, args...) }
