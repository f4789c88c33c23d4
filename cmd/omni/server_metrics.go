package main

import (
	"fmt"

	"github.com/omnikernel/omnikernel/cluster/logsink"
	"github.com/omnikernel/omnikernel/cluster/metrics"
)

// processMetrics are those of this process, which has one node.
func processMetrics(sink *logsink.Sink) (*metrics.Metrics, error) {
	b := thisBuild()
	m := metrics.New(metrics.Build{Version: b.Version, Commit: b.Commit, Go: b.Go})
	m.WatchOutput(func() metrics.Output { return metrics.Output{Blocked: sink.Blocked(), Dropped: sink.Dropped()} })
	if err := m.HearRaft(); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return m, nil
}
