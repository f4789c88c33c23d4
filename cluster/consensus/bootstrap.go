package consensus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/raft"
)

// bootstrap writes the first configuration into an empty store. Every node of
// a new cluster writes the same bytes, so it does not matter which of them
// come up. A store with state is left alone.
func bootstrap(c Config, conf *raft.Config, transport raft.Transport) error {
	if len(c.Bootstrap) == 0 {
		return nil
	}
	configuration := configurationOf(c.Bootstrap)
	err := raft.BootstrapCluster(conf, c.Log, c.Stable, c.Snapshots, transport, configuration)
	if errors.Is(err, raft.ErrCantBootstrap) {
		return finishBootstrap(c, configuration)
	}
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

// configurationOf sorts the members, so that the same list in another order is
// the same configuration.
func configurationOf(members []Member) raft.Configuration {
	sorted := slices.SortedFunc(slices.Values(members), func(a, b Member) int { return strings.Compare(a.ID, b.ID) })
	var out raft.Configuration
	for _, m := range sorted {
		suffrage := raft.Nonvoter
		if m.Voter {
			suffrage = raft.Voter
		}
		out.Servers = append(out.Servers, raft.Server{Suffrage: suffrage, ID: raft.ServerID(m.ID), Address: raft.ServerAddress(m.Address)})
	}
	return out
}

// finishBootstrap repairs a crash between the two writes of a bootstrap: term
// 1 is there and the configuration is not. Nothing else leaves a store in term
// 1 without entry, snapshot and vote, and every node writes the same entry, so
// writing it now is what the bootstrap would have done.
func finishBootstrap(c Config, configuration raft.Configuration) error {
	term, err := c.Stable.GetUint64([]byte("CurrentTerm"))
	if err != nil || term != 1 {
		return ignoreNotFound(err)
	}
	last, err := c.Log.LastIndex()
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	snapshots, err := c.Snapshots.List()
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	_, err = c.Stable.Get([]byte("LastVoteCand"))
	if last > 0 || len(snapshots) > 0 || err == nil {
		return nil
	}
	if err := ignoreNotFound(err); err != nil {
		return err
	}
	c.Logger.Warn("finishing a bootstrap that a crash had cut short")
	entry := &raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(configuration)}
	if err := c.Log.StoreLog(entry); err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	return nil
}

// ignoreNotFound: stable stores say so by this text.
func ignoreNotFound(err error) error {
	if err == nil || err.Error() == "not found" {
		return nil
	}
	return fmt.Errorf("bootstrap: %w", err)
}
