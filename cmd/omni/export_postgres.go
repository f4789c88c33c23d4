package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/omnikernel/omnikernel/cmd/omni/export"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

func newExportCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "export",
		Short: "Copy what happens into a database, for queries",
		Args:  onlySubcommands,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newExportPostgres(a))
	return c
}

func newExportPostgres(a *app) *cobra.Command {
	o := export.Options{Schema: "omni", Batch: export.DefaultBatch}
	c := &cobra.Command{
		Use:   "postgres",
		Short: "Follow the log, and keep agents and runs in PostgreSQL",
		Long: `Runs until it is stopped: follows the execution log from whatever node answers, and
writes rows of agents, runs and their transitions, in batches. No node knows of it
and nothing waits for it; while the database is down or slow it falls behind, says so,
and catches up. The position is kept in the database, with the rows, so it goes on
where it was, and a row is there once however often its record is offered.

The tables are made when they are not there (docs/export.md describes them). What
--dsn leaves out, and the password above all, comes from PGHOST, PGUSER, PGPASSWORD,
PGPASSFILE and the like, as with psql.`,
		Example: `  omni export postgres --dsn postgres://omni@db.example/agents
  PGHOST=/run/postgresql PGDATABASE=agents omni export postgres --schema prod -o json`,
		Args: exactly(),
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Every <= 0 {
				return tell.Usage("", "--every is %v, must be positive", o.Every)
			}
			connection, err := a.connect()
			if err != nil {
				return err
			}
			defer connection.Close()
			progress := a.tell.Progress()
			o.Report = (&exportTeller{tell: a.tell, progress: progress}).report
			err = export.Run(c.Context(), connection, o)
			progress.Done()
			return aboutExport(err)
		},
	}
	c.Flags().StringVar(&o.DSN, "dsn", "", "the database, such as postgres://user@host/database")
	c.Flags().StringVar(&o.Schema, "schema", o.Schema, "the schema that the tables are in")
	c.Flags().Uint64Var(&o.From, "from", 0, "busSeq at which a cluster begins that the database does not have yet; 0 is the first")
	c.Flags().IntVar(&o.Batch, "batch", o.Batch, "records in one transaction at most")
	c.Flags().DurationVar(&o.Every, "every", 10*time.Second, "how often to say how it stands")
	return c
}

// exportTeller says how an export stands: every time with -o json, on a terminal
// as one line, and otherwise when something has changed.
type exportTeller struct {
	tell     *tell.Teller
	progress *tell.Progress
	down     bool
}

func (e *exportTeller) report(lag export.Lag) {
	if e.tell.IsJSON() {
		// Whoever has closed stdout does not end the export.
		_ = e.tell.Data(lag, func(*tell.Page) {})
		return
	}
	if down := lag.Error != ""; down != e.down {
		e.down = down
		e.progress.Done()
		if down {
			e.tell.Say("the database takes nothing: %s; trying again", lag.Error)
		} else {
			e.tell.Say("the database takes rows again, up to busSeq %d", lag.BusSeq)
		}
	}
	e.progress.Show("up to busSeq %d, %d records, %d wait, %v behind", lag.BusSeq, lag.Records, lag.Waiting,
		(time.Duration(lag.Millis) * time.Millisecond).Round(time.Millisecond))
}

// aboutExport says what to do about an export that ended.
func aboutExport(err error) error {
	var option *export.OptionError
	var newer *export.SchemaError
	var other *export.OtherLogError
	var said *api.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &option):
		return tell.Usage("omni export postgres --help", "--%v", option)
	case errors.As(err, &newer):
		return tell.Refused("what was written stays as it is", "%v", newer)
	case errors.As(err, &other):
		return tell.Refused("give this cluster another --schema, or the cluster that was restored another id", "%v", other)
	case errors.As(err, &said):
		return err
	case export.FromDatabase(err):
		return tell.Refused("the position is kept: run it again when that is mended", "the database refuses: %v", err)
	}
	return err
}
