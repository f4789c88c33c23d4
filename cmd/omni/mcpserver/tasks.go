package mcpserver

import (
	"context"

	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

type tasksWanted struct {
	Agent string `json:"agent,omitempty" jsonschema:"only what this agent asks"`
	After string `json:"after,omitempty" jsonschema:"go on after this task, as next said"`
	paging
}

func listTasks(ctx context.Context, kernel *client.Client, in tasksWanted) (any, error) {
	page, err := kernel.Tasks(ctx, api.TaskQuery{Agent: in.Agent, After: in.After, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Tasks, func(last, _ *api.OpenTask) { page.Next = last.Task })
}

type ofTask struct {
	Task string `json:"task" jsonschema:"its id, as task_list has it"`
}

type taskResult struct {
	ofTask
	Result value.Raw `json:"result,omitempty" jsonschema:"the answer, which must fit the tool's output schema; null when left out"`
	keyed
}

func completeTask(ctx context.Context, kernel *client.Client, in taskResult) (any, error) {
	return done(kernel.CompleteTask(ctx, in.Task, in.Result, in.once()...))
}

type taskRejection struct {
	ofTask
	because
}

func rejectTask(ctx context.Context, kernel *client.Client, in taskRejection) (any, error) {
	return done(kernel.RejectTask(ctx, in.Task, in.Reason, in.once()...))
}
