package export

import (
	"context"
	"errors"
	"fmt"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// OtherLogError says that the database has rows of another log under the
// cluster's id.
type OtherLogError struct {
	Cluster string
	BusSeq  uint64
}

// Error names the record that differs.
func (e *OtherLogError) Error() string {
	return fmt.Sprintf("the database has another log of a cluster %q: its record %d is not the one of this cluster", e.Cluster, e.BusSeq)
}

// sameLog compares the last record that was written with the cluster's.
func sameLog(ctx context.Context, c *client.Client, cluster string, p Position) error {
	if p.Kind == "" {
		return nil
	}
	page, err := c.Log(ctx, api.LogQuery{From: p.BusSeq, Limit: 1})
	var said *api.Error
	switch {
	case errors.As(err, &said) && said.Code == api.CodeCompacted:
		return nil // nobody can tell
	case err != nil:
		return err
	case len(page.Records) == 0:
		return &OtherLogError{cluster, p.BusSeq}
	}
	r := &page.Records[0]
	if r.BusSeq != p.BusSeq || r.Index != p.Index || r.Term != p.Term || r.Kind != p.Kind || !at(r).Equal(p.At) {
		return &OtherLogError{cluster, p.BusSeq}
	}
	return nil
}

// follow hands every record of an exported kind on, and every one of a run, from a
// busSeq on, in order and without gaps, until the context ends or no node can give the log. What was
// archived is read page by page, of a node that has the archive.
func follow(ctx context.Context, c *client.Client, from uint64, to chan<- api.Record) error {
	hand := func(r api.Record) bool {
		select {
		case to <- r:
			return true
		case <-ctx.Done():
			return false
		}
	}
	for {
		var ended error
		for r, err := range c.Watch(ctx, api.WatchQuery{From: from, Kinds: Kinds(), Runs: true}) {
			if err != nil {
				ended = err
				break
			}
			if !hand(r) {
				return ctx.Err()
			}
			from = r.BusSeq + 1
		}
		var said *api.Error
		if !errors.As(ended, &said) || said.Code != api.CodeCompacted || said.First <= from {
			return ended
		}
		if err := pages(ctx, c, from, said.First, hand); err != nil {
			return err
		}
		from = said.First
	}
}

// pages reads what was archived.
func pages(ctx context.Context, c *client.Client, from, end uint64, hand func(api.Record) bool) error {
	wanted := make(map[string]bool)
	for _, kind := range Kinds() {
		wanted[kind] = true
	}
	for from < end {
		page, err := c.Log(ctx, api.LogQuery{From: from})
		if err != nil {
			return err
		}
		if page.Next <= from {
			return fmt.Errorf("export: the log does not go on at record %d", from)
		}
		for _, r := range page.Records {
			if r.BusSeq < end && (wanted[r.Kind] || r.RunID != "") && !hand(r) {
				return ctx.Err()
			}
		}
		from = page.Next
	}
	return nil
}
