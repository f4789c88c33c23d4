package main

import (
	"fmt"
	"time"

	"github.com/omnikernel/omnikernel/cluster/logsink"
	"github.com/omnikernel/omnikernel/cluster/metrics"
	"github.com/omnikernel/omnikernel/transport/identity"
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

// watchCertificates lets metrics tell when certificates end; without TLS there are none.
func watchCertificates(m *metrics.Metrics, store *identity.Store) {
	if store == nil {
		return
	}
	m.WatchCertificates(func() metrics.Certificates { return certificatesOf(store.State()) })
}

func certificatesOf(s identity.State) metrics.Certificates {
	c := metrics.Certificates{Until: make(map[string]time.Time), Refused: s.Refused != ""}
	for _, one := range s.Certificates {
		if first, some := c.Until[one.Role]; !some || one.NotAfter.Before(first) {
			c.Until[one.Role] = one.NotAfter
		}
	}
	return c
}
