package main

import (
	"context"
	"errors"
	"iter"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// records are what a client reads or watches.
type records = iter.Seq2[api.Record, error]

// printRecords prints records as they come. That the caller ends it is a good
// end.
func (a *app) printRecords(ctx context.Context, all records) error {
	for record, err := range all {
		if err != nil {
			if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
				return nil
			}
			return err
		}
		if err := a.tell.Data(record, func(p *tell.Page) { show.Record(p, record) }); err != nil {
			return err
		}
	}
	return nil
}

// atMost ends a sequence after limit items; 0 is no limit.
func atMost(limit int, all records) records {
	if limit == 0 {
		return all
	}
	return func(yield func(api.Record, error) bool) {
		n := 0
		for record, err := range all {
			if n++; !yield(record, err) || n == limit {
				return
			}
		}
	}
}
