package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// readLedger is one call of omni run ledger.
type readLedger struct {
	*app
	how    reading
	run    string
	from   uint64
	limit  int
	follow bool
	export string
}

func newRunLedger(a *app) *cobra.Command {
	l := &readLedger{app: a}
	c := &cobra.Command{
		Use:   "ledger ID",
		Short: "Show or export a run's provenance ledger",
		Long: `A run's ledger is the part of the log that is about its root agent or an agent below
it: what the run was asked to do, by whom, what every task, tool and child came to,
and every pause and resume. Its blocks are chained by themselves, so it can be handed on
and verified alone.

Prints the records of the run's agents and the events that they came of, oldest
first, up to the present end, and then the head of the run's chain. With -o json one
record a line, and the end as the last line. With --follow it goes on with what comes.

With --export the ledger is written to a file, or to stdout with -, with what it
takes to replay the run: see omni ledger verify and omni run replay. It is checked while
it is written, and the file gets its name when it is whole and on disk.`,
		Example: `  omni run ledger 018f4e5c-0000-7000-8000-000000000001
  omni run ledger 018f4e5c-0000-7000-8000-000000000001 --export run.ledger
  omni run ledger 018f4e5c-0000-7000-8000-000000000001 --from 1000 --limit 20 -o json`,
		Args: exactly("ID"),
		RunE: func(c *cobra.Command, args []string) error {
			l.run = args[0]
			if err := l.check(c); err != nil {
				return err
			}
			options, err := l.how.options(c)
			if err != nil {
				return err
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			switch {
			case l.export != "":
				return l.write(c.Context(), connection, options)
			case l.follow:
				watch := api.WatchQuery{From: max(l.from, 1), Run: l.run, Notes: !a.tell.IsJSON()}
				return a.printRecords(c.Context(), atMost(l.limit, connection.Watch(c.Context(), watch, options...)))
			}
			return l.list(c.Context(), connection, options)
		},
	}
	flags := c.Flags()
	flags.Uint64Var(&l.from, "from", 0, "begin at this busSeq")
	flags.IntVar(&l.limit, "limit", 0, "end after so many records; 0 is never")
	flags.BoolVar(&l.follow, "follow", false, "go on with what comes")
	flags.StringVar(&l.export, "export", "", "write the ledger to this file; - is stdout")
	l.how.addFlags(c)
	return c
}

func (l *readLedger) check(c *cobra.Command) error {
	listing := c.Flags().Changed("from") || c.Flags().Changed("limit") || l.follow
	switch {
	case l.limit < 0:
		return tell.Usage("", "--limit is %d, must not be negative", l.limit)
	case l.export != "" && listing:
		return tell.Usage("leave the other flags out", "--export writes the whole ledger")
	case l.export == "-" && l.tell.RawIsTerminal():
		return tell.Usage("omni run ledger "+l.run+" --export run.ledger", "a ledger is bytes, not text for a terminal")
	case l.export != "" && l.export != "-":
		if _, err := os.Lstat(l.export); err == nil {
			return tell.Usage("name another file, or move that one away", "there is a file %s already", l.export)
		}
	}
	return nil
}

// list prints the records page by page, and where the ledger ends as of the last page.
func (l *readLedger) list(ctx context.Context, connection *client.Client, options []client.Option) error {
	end := show.LedgerEnd{RunID: l.run, Next: l.from}
	for left := l.limit; ; {
		query := api.LogQuery{From: end.Next, Run: l.run, Limit: api.MaxPageItems, Notes: !l.tell.IsJSON()}
		if l.limit > 0 {
			query.Limit = min(query.Limit, left)
		}
		page, err := connection.Log(ctx, query, options...)
		if err != nil {
			return err
		}
		for i := range page.Records {
			record := page.Records[i]
			if err := l.tell.Data(record, func(p *tell.Page) { show.Record(p, record) }); err != nil {
				return err
			}
		}
		end.Next = page.Next
		if page.Ledger != nil {
			end.Ledger = *page.Ledger
		}
		left -= len(page.Records)
		if len(page.Records) == 0 || l.limit > 0 && left == 0 {
			return l.tell.Data(end, func(p *tell.Page) { show.Ended(p, &end) })
		}
	}
}

// write copies the ledger to a file, or to stdout, and checks it on the way.
func (l *readLedger) write(ctx context.Context, connection *client.Client, options []client.Option) error {
	body, err := connection.OpenLedger(ctx, l.run, options...)
	if err != nil {
		return err
	}
	defer body.Close()
	if l.export == "-" {
		found, err := l.verified(io.TeeReader(body, l.tell.Raw()), nil)
		if err != nil {
			return unreadable(err)
		}
		l.tell.SayPage(func(p *tell.Page) { show.LedgerWritten(p, found) })
		return nil
	}
	var found *show.Ledger
	err = whole(l.export, func(f *os.File) (err error) {
		found, err = l.verified(io.TeeReader(body, f), nil)
		return unreadable(err)
	})
	if err != nil {
		return err
	}
	found.File = l.export
	return l.tell.Data(found, func(p *tell.Page) { show.LedgerWritten(p, found) })
}

// verified reads a ledger to its end. each is told of every block; it may be nil.
func (a *app) verified(from io.Reader, each func(*replay.LedgerSum)) (*show.Ledger, error) {
	meter := a.tell.Meter()
	defer meter.Done()
	sum, ledger, err := history.Ledger(from, func(s *replay.LedgerSum) {
		meter.Show("%d blocks, %d records", s.Blocks, s.Records)
		if each != nil {
			each(s)
		}
	})
	return show.OfRun(&sum, &ledger), err
}

// whole writes a file that has its name only when all of it is on disk.
func whole(path string, write func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.partial")
	if err != nil {
		return tell.Usage("", "%v", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
