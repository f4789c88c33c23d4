package export

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Position is how far a cluster's log was written: the last record, so that a
// later start can tell whether the log is the same one.
type Position struct {
	BusSeq uint64
	Index  uint64
	Term   uint64
	Kind   string // empty when no record was written yet
	At     time.Time
}

// sink is one connection to the database. It is used by one goroutine.
type sink struct {
	conn    *pgx.Conn
	cluster string
}

// openTimeout bounds how long a server may take to let us in, and writeTimeout
// how long for a batch: after that the connection is thought to be dead.
const (
	openTimeout  = 10 * time.Second
	writeTimeout = time.Minute
)

// open connects, brings the schema up to date, and sees to it that the cluster
// has a position: before from, if it is new.
func open(ctx context.Context, o *Options, cluster api.Status) (*sink, error) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, o.config)
	if err != nil {
		return nil, &cutError{err}
	}
	s := &sink{conn: conn, cluster: cluster.ClusterID}
	if err := s.told(s.prepare(ctx, o, cluster)); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// cutError is the failure of a connection that is gone, or never came about.
type cutError struct{ error }

// Unwrap gives the cause.
func (e *cutError) Unwrap() error { return e.error }

// told marks an error after which the connection is gone.
func (s *sink) told(err error) error {
	if err != nil && s.conn.IsClosed() {
		return &cutError{err}
	}
	return err
}

func (s *sink) prepare(ctx context.Context, o *Options, cluster api.Status) error {
	if err := migrate(ctx, s.conn, o.Schema); err != nil {
		return err
	}
	if _, err := s.conn.Exec(ctx, "SET search_path TO "+pgx.Identifier{o.Schema}.Sanitize()); err != nil {
		return err
	}
	_, err := s.conn.Exec(ctx, `INSERT INTO positions (cluster_id, kernel_id, bus_seq) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
		cluster.ClusterID, cluster.KernelID, int64(max(o.From, 1)-1))
	return err
}

// close gives the connection back; what was not committed is not there.
func (s *sink) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // it is over either way
}

// position is where the cluster's rows end.
func (s *sink) position(ctx context.Context) (Position, error) {
	p, err := readPosition(ctx, s.conn, s.cluster, "")
	return p, s.told(err)
}

// querier is a connection or a transaction on it.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

func readPosition(ctx context.Context, q querier, cluster, lock string) (p Position, err error) {
	var seq int64
	var index, term *int64
	var kind *string
	var written *time.Time
	err = q.QueryRow(ctx, "SELECT bus_seq, raft_index, term, kind, at FROM positions WHERE cluster_id = $1 "+lock, cluster).
		Scan(&seq, &index, &term, &kind, &written)
	if err != nil {
		return p, err
	}
	p.BusSeq = uint64(seq)
	if kind != nil && index != nil && term != nil && written != nil {
		p.Kind, p.Index, p.Term, p.At = *kind, uint64(*index), uint64(*term), *written
	}
	return p, nil
}

// write makes rows of the records, in their order, and moves the position to the
// last of them, all of it or nothing. What is not after the position has been
// written before, by us or by somebody else, and is left out.
func (s *sink) write(ctx context.Context, records []api.Record) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	return s.told(pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		now, err := readPosition(ctx, tx, s.cluster, "FOR UPDATE")
		if err != nil {
			return err
		}
		batch, err := s.statements(records, now.BusSeq)
		if err != nil || batch.Len() == 0 {
			return err
		}
		return tx.SendBatch(ctx, batch).Close()
	}))
}

func (s *sink) statements(records []api.Record, after uint64) (*pgx.Batch, error) {
	batch := &pgx.Batch{}
	var last *api.Record
	for i := range records {
		r := &records[i]
		if r.BusSeq <= after {
			continue
		}
		last = r
		for j := range rules {
			if rules[j].kind != r.Kind {
				continue
			}
			if err := s.queue(batch, &rules[j], r); err != nil {
				return nil, err
			}
		}
		if r.RunID != "" {
			if err := s.queue(batch, &ofLedger, r); err != nil {
				return nil, err
			}
		}
	}
	if last != nil {
		batch.Queue(`UPDATE positions SET bus_seq = $2, raft_index = $3, term = $4, kind = $5, at = $6, updated_at = now() WHERE cluster_id = $1`,
			s.cluster, int64(last.BusSeq), int64(last.Index), int64(last.Term), last.Kind, at(last))
	}
	return batch, nil
}

func (s *sink) queue(batch *pgx.Batch, by *rule, r *api.Record) error {
	args, err := by.args(r)
	if err != nil {
		return err
	}
	batch.Queue(by.sql, append([]any{s.cluster, int64(r.BusSeq)}, args...)...)
	return nil
}

// passing tells whether the database may be well again by itself: it is not
// reachable, starts, stops, is full, or was in somebody's way. Anything else that
// it says it will say again; and where it has said nothing and the connection is
// whole, the fault is ours.
func passing(err error) bool {
	var said *pgconn.PgError
	if !errors.As(err, &said) || len(said.Code) != 5 {
		var cut *cutError
		return errors.As(err, &cut)
	}
	switch said.Code[:2] { // SQLSTATE classes, appendix A of PostgreSQL's manual
	case "08", "40", "53", "55", "57", "58", "XX":
		return true
	}
	return said.Code == "25006" // a standby, which takes no writes yet
}

// FromDatabase tells whether an error is what the database said, or that it could
// not be asked.
func FromDatabase(err error) bool {
	var said *pgconn.PgError
	var cut *cutError
	return errors.As(err, &said) || errors.As(err, &cut)
}
