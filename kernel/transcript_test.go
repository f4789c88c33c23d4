package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	"github.com/omnikernel/omnikernel/kernel/lifecycle"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// TestTranscripts tells the stories of testdata/*.txt. Each directive commits
// one event, and shows what it came to and every record of its block:
//
//	start agent=a [mode=service] [grants=none]   YAML: the program
//	define agent=a [mode=service] [grants=none]  YAML: the program, if any
//	submit agent=a                               YAML: a program, if any
//	trigger agent=a do=suspend [reason=…]
//	kill agent=a [reason=…]
//	answer                                       YAML: the oldest call's result
//	fail code=TOOL_TIMEOUT                       … or its failure
//	pass [ms=100] [days=30]                      time goes by, then a Pulse
//	agents                                       commits nothing: where each agent is
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		story := newStory(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return story.tell(t, d)
		})
		story.s.Check()
	})
}

type story struct {
	s     *kerneltest.Sim
	ids   map[string]string
	names map[uint32]string
	order []string
}

func newStory(t *testing.T) *story {
	return &story{s: kerneltest.New(t, 2), ids: make(map[string]string), names: make(map[uint32]string)}
}

func (st *story) tell(t *testing.T, d *datadriven.TestData) string {
	var name, do, reason, code, mode, grants string
	var ms, days int
	for key, into := range map[string]*string{"agent": &name, "do": &do, "reason": &reason, "code": &code, "mode": &mode, "grants": &grants} {
		d.MaybeScanArgs(t, key, into)
	}
	d.MaybeScanArgs(t, "ms", &ms)
	d.MaybeScanArgs(t, "days", &days)
	s := st.s
	var outcome event.Outcome
	switch d.Cmd {
	case "define":
		outcome = s.Command(event.AgentDefine, st.define(t, d, name, mode, grants))
	case "start":
		outcome = s.Command(event.AgentStart, event.Start{Define: st.define(t, d, name, mode, grants)})
	case "submit":
		outcome = s.Command(event.AgentSubmit, event.Submit{Agent: st.ids[name], Program: fromYAML(t, d.Input)})
	case "trigger":
		outcome = s.Command(event.AgentTrigger, event.Trigger{Agent: st.ids[name], Trigger: do, Reason: reason})
	case "kill":
		outcome = s.Command(event.AgentKill, event.Kill{Agent: st.ids[name], Reason: reason})
	case "answer":
		outcome = s.Answer(true, fromYAML(t, d.Input).ToGo())
	case "fail":
		outcome = s.Answer(false, code)
	case "pass":
		s.Pass(int64(days)*24*3_600_000 + int64(ms))
	case "agents":
		return st.agents()
	default:
		d.Fatalf(t, "unknown directive %s", d.Cmd)
	}
	return st.show(outcome)
}

func (st *story) define(t *testing.T, d *datadriven.TestData, name, mode, grants string) event.Define {
	st.ids[name] = st.s.NewID()
	st.order = append(st.order, name)
	st.names[uint32(len(st.order))] = name
	define := event.Define{ID: st.ids[name], Name: name, Mode: mode, Grants: allowAll, Program: fromYAML(t, d.Input)}
	if grants == "none" {
		define.Grants = []permissions.Grant{}
	}
	return define
}

func (st *story) show(outcome event.Outcome) string {
	var b strings.Builder
	if outcome.Index != 0 {
		fmt.Fprintf(&b, "%s\n", kerneltest.ShowOutcome(outcome))
	}
	for _, r := range st.s.Last() {
		fmt.Fprintf(&b, "%s\n", kerneltest.Show(r, st.names))
	}
	return b.String()
}

func (st *story) agents() string {
	var b strings.Builder
	for _, name := range st.order {
		row := st.s.Row(st.ids[name])
		fmt.Fprintf(&b, "%s %s", name, row.Lifecycle.State)
		if row.Lifecycle.State == lifecycle.Faulted {
			fmt.Fprintf(&b, " (%s)", row.Lifecycle.Fault)
		}
		switch result := row.Execution.Result; {
		case result == nil:
		case result.OK:
			fmt.Fprintf(&b, ", tick %d gave %s", result.Tick, result.Value.AppendJSON(nil))
		default:
			fmt.Fprintf(&b, ", tick %d failed: %s", result.Tick, result.Code)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func fromYAML(t *testing.T, src string) value.Raw {
	if src == "" {
		return nil
	}
	var v any
	require.NoError(t, yaml.Unmarshal([]byte(src), &v))
	raw, problem := value.FromGo(v)
	require.Nil(t, problem)
	return raw
}
