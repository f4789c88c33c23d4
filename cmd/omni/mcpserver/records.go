package mcpserver

import (
	"context"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

type runsWanted struct {
	State  string            `json:"state,omitempty" jsonschema:"only runs in this state" enum:"PLANNING,PLANNED,APPLYING,PAUSED,COMPLETED,FAILED,KILLED"`
	Labels map[string]string `json:"labels,omitempty" jsonschema:"only runs whose root agent has all of these"`
	After  string            `json:"after,omitempty" jsonschema:"go on after this run id, as next said"`
	paging
}

func listRuns(ctx context.Context, kernel *client.Client, in runsWanted) (any, error) {
	page, err := kernel.Runs(ctx, api.RunQuery{State: in.State, Labels: in.Labels, After: in.After, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Runs, func(last, _ *api.RunSummary) { page.Next = last.RunID })
}

type ofRun struct {
	Run string `json:"run" jsonschema:"the run's id, a UUID"`
}

func getRun(ctx context.Context, kernel *client.Client, in ofRun) (any, error) {
	return kernel.Run(ctx, in.Run)
}

// memoryOf names one of the two.
type memoryOf struct {
	Agent     string `json:"agent,omitempty" jsonschema:"the agent whose memory it is"`
	Namespace string `json:"namespace,omitempty" jsonschema:"instead, a namespace of shared memory"`
}

func (m memoryOf) check() error {
	if (m.Agent == "") == (m.Namespace == "") {
		return invalid("agent", "must be given, or namespace instead, and not both")
	}
	return nil
}

type keysWanted struct {
	memoryOf
	Prefix string `json:"prefix,omitempty" jsonschema:"only keys that begin with these segments: orders lists orders/17"`
	After  string `json:"after,omitempty" jsonschema:"go on after this key, as next said"`
	paging
}

func listMemory(ctx context.Context, kernel *client.Client, in keysWanted) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	var page api.MemoryPage
	var err error
	query := api.MemoryQuery{Prefix: in.Prefix, After: in.After, Limit: in.limit()}
	if in.Agent != "" {
		page, err = kernel.MemoryKeys(ctx, in.Agent, query)
	} else {
		page, err = kernel.SharedKeys(ctx, in.Namespace, query)
	}
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Keys, func(last, _ *api.MemoryKey) { page.Next = last.Key })
}

type valueWanted struct {
	memoryOf
	Key string `json:"key" jsonschema:"such as orders/17"`
}

func getMemory(ctx context.Context, kernel *client.Client, in valueWanted) (any, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	if in.Agent != "" {
		return kernel.MemoryValue(ctx, in.Agent, in.Key)
	}
	return kernel.SharedValue(ctx, in.Namespace, in.Key)
}

type logWanted struct {
	From  uint64 `json:"from,omitempty" jsonschema:"the first busSeq wanted, as next said; the log's first when left out"`
	Agent string `json:"agent,omitempty" jsonschema:"only records of this agent"`
	Run   string `json:"run,omitempty" jsonschema:"only records of this run"`
	paging
}

func readLog(ctx context.Context, kernel *client.Client, in logWanted) (any, error) {
	page, err := kernel.Log(ctx, api.LogQuery{From: in.From, Agent: in.Agent, Run: in.Run, Limit: in.limit()})
	if err != nil {
		return nil, err
	}
	return page, paged(&page.Records, func(_, first *api.Record) { page.Next = first.BusSeq })
}

func clusterStatus(ctx context.Context, kernel *client.Client, _ struct{}) (any, error) {
	return kernel.Status(ctx)
}
