package export

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/jackc/pgx/v5"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// Options of an export.
type Options struct {
	DSN    string // as psql takes it, a URL or words; what it leaves out comes from PGHOST, PGPASSWORD and so on
	Schema string // that the tables are in
	From   uint64 // busSeq at which a cluster begins that the database does not have yet; 0 is the first
	Batch  int    // records in one transaction at most

	Every  time.Duration // between reports; 0 is no reports
	Report func(Lag)     // called by one goroutine; may be nil

	config *pgx.ConnConfig
}

// The bounds of Options.Batch.
const (
	DefaultBatch = 1000
	MaxBatch     = 10_000
)

// linger is how long a batch that is not full waits for more.
const linger = 50 * time.Millisecond

// Lag is how an export stands.
type Lag struct {
	Cluster string `json:"cluster_id"`
	BusSeq  uint64 `json:"bus_seq"`         // of the last record that was written, of the kinds that are exported
	Records uint64 `json:"records"`         // written since this process began
	Waiting int    `json:"waiting"`         // records that the log has given and the database does not have
	Millis  int64  `json:"lag_ms"`          // age of the oldest of them; 0 when there is none
	Error   string `json:"error,omitempty"` // why the database takes nothing at the moment
	Retries uint64 `json:"retries"`         // attempts that failed, since this process began
}

// OptionError says which option is wrong.
type OptionError struct{ Option, Rule string }

// Error names both.
func (e *OptionError) Error() string { return e.Option + " " + e.Rule }

func (o *Options) check() (err error) {
	if o.config, err = pgx.ParseConfig(o.DSN); err != nil {
		// What the parser says holds no password; its cause is for developers.
		return &OptionError{"dsn", "must be a connection string such as postgres://user@host/database: " + err.Error()}
	}
	if o.config.ConnectTimeout == 0 {
		o.config.ConnectTimeout = openTimeout
	}
	if o.config.RuntimeParams["application_name"] == "" {
		o.config.RuntimeParams["application_name"] = "omni export"
	}
	switch {
	case o.Schema == "" || len(o.Schema) > 63:
		return &OptionError{"schema", "must be a name of 1 to 63 bytes"}
	case o.Batch < 1 || o.Batch > MaxBatch:
		return &OptionError{"batch", fmt.Sprintf("is %d, must be 1 to %d", o.Batch, MaxBatch)}
	}
	return nil
}

// Run exports until the context ends, which is no error, or until something is
// wrong that does not pass by itself: the database refuses us, it has another log
// under this cluster's id, or no node has the log from the position on. While the
// database cannot be reached it tries again, later each time up to half a minute.
func Run(ctx context.Context, c *client.Client, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	status, err := c.Status(ctx)
	if err != nil {
		return err
	}
	e := &exporting{client: c, options: o, cluster: status, lag: Lag{Cluster: status.ClusterID}}
	defer e.drop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var jobs sync.WaitGroup
	defer jobs.Wait()
	defer cancel(nil)
	if o.Report != nil && o.Every > 0 {
		jobs.Go(func() { e.report(ctx) })
	}
	var position Position
	if err := e.persist(ctx, func() (err error) {
		position, err = e.sink.position(ctx)
		return err
	}); err != nil {
		return ended(ctx, err)
	}
	if err := sameLog(ctx, c, status.ClusterID, position); err != nil {
		return ended(ctx, err)
	}
	e.wrote(position.BusSeq, 0)
	records := make(chan api.Record, o.Batch)
	jobs.Go(func() { cancel(follow(ctx, c, position.BusSeq+1, records)) })
	return ended(ctx, e.drain(ctx, records))
}

// ended is why an export ended: nothing, when somebody wanted it to.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return err
}

// exporting is one export under way.
type exporting struct {
	client  *client.Client
	options Options
	cluster api.Status
	sink    *sink // nil while there is no connection

	mu     sync.Mutex // guards lag and oldest
	lag    Lag
	oldest int64 // kernel clock of the oldest record that waits, Unix milliseconds
}

// drain writes what comes, in batches. One batch is held until the database has
// it; meanwhile no more is taken than the channel holds, and the node's stream
// waits.
func (e *exporting) drain(ctx context.Context, records <-chan api.Record) error {
	var batch []api.Record
	for {
		batch = gather(ctx, records, batch[:0], e.options.Batch)
		if len(batch) == 0 {
			return ctx.Err()
		}
		e.waits(batch[0].AtMillis, len(batch))
		if err := e.persist(ctx, func() error { return e.sink.write(ctx, batch) }); err != nil {
			return err
		}
		e.wrote(batch[len(batch)-1].BusSeq, len(batch))
	}
}

// gather waits for a record and takes what comes within a moment.
func gather(ctx context.Context, records <-chan api.Record, batch []api.Record, most int) []api.Record {
	select {
	case r := <-records:
		batch = append(batch, r)
	case <-ctx.Done():
		return batch
	}
	over := time.NewTimer(linger)
	defer over.Stop()
	for len(batch) < most {
		select {
		case r := <-records:
			batch = append(batch, r)
		case <-over.C:
			return batch
		case <-ctx.Done():
			return batch
		}
	}
	return batch
}

// persist does something with the database until it is done: over a new
// connection after each failure that may pass.
func (e *exporting) persist(ctx context.Context, do func() error) error {
	delays := backoff.NewExponentialBackOff()
	delays.InitialInterval, delays.MaxInterval = 100*time.Millisecond, 30*time.Second
	for {
		err := e.attempt(ctx, do)
		if err == nil {
			return nil
		}
		e.drop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !passing(err) {
			return err
		}
		e.failed(err)
		pause := time.NewTimer(delays.NextBackOff())
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
}

func (e *exporting) attempt(ctx context.Context, do func() error) (err error) {
	if e.sink == nil {
		if e.sink, err = open(ctx, &e.options, e.cluster); err != nil {
			return err
		}
	}
	return do()
}

func (e *exporting) drop() {
	if e.sink != nil {
		e.sink.close()
		e.sink = nil
	}
}

func (e *exporting) waits(oldest int64, records int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.oldest, e.lag.Waiting = oldest, records
}

func (e *exporting) wrote(seq uint64, records int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lag.BusSeq, e.lag.Waiting, e.lag.Error = seq, 0, ""
	e.lag.Records += uint64(records)
}

func (e *exporting) failed(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lag.Retries++
	e.lag.Error = err.Error()
}

// standing is the lag at a moment.
func (e *exporting) standing(now time.Time) Lag {
	e.mu.Lock()
	defer e.mu.Unlock()
	lag := e.lag
	if lag.Waiting > 0 {
		lag.Millis = max(now.UnixMilli()-e.oldest, 0)
	}
	return lag
}

func (e *exporting) report(ctx context.Context) {
	tick := time.NewTicker(e.options.Every)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			e.options.Report(e.standing(now))
		case <-ctx.Done():
			return
		}
	}
}
