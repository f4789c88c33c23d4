package show

import (
	"fmt"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Tasks shows what waits for a person.
func Tasks(p *tell.Page, page api.TaskPage) {
	rows := make([][]string, 0, len(page.Tasks))
	for i := range page.Tasks {
		t := &page.Tasks[i]
		rows = append(rows, []string{t.Task, t.Name, t.Tool, firstLine(compact(t.Args)), when(t.Since), when(t.Deadline)})
	}
	if len(rows) > 0 {
		p.Table([]string{"ID", "AGENT", "TOOL", "ARGS", "SINCE", "UNTIL"}, rows)
	}
	ending(p, len(rows), "tasks", page.As, page.Next)
}

// Task shows one of them.
func Task(p *tell.Page, t api.TaskAnswer) {
	p.Fields(
		[2]string{"task", p.Accent(t.Task)},
		[2]string{"agent", t.AgentID},
		[2]string{"name", t.Name},
		[2]string{"tool", fmt.Sprintf("%s, revision %d", t.Tool, t.Revision)},
		[2]string{"asks", t.Description},
		[2]string{"args", compact(t.Args)},
		[2]string{"answer", schemaLine(t.Output)},
		[2]string{"since", when(t.Since)},
		[2]string{"until", when(t.Deadline)},
		[2]string{"as of", asOf(t.As)},
	)
	p.Line("")
	p.Line("omni task complete %s --result JSON", t.Task)
	p.Line("omni task reject %s --reason TEXT", t.Task)
}
