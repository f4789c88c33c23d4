package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Watch follows the log (CL-5): records in order, each once, without gaps. When
// a node goes, it goes on at another, after the last record that it gave. It
// ends with the context, whose error it then gives, or with an error that no
// node would answer otherwise.
func (c *Client) Watch(ctx context.Context, q api.WatchQuery, opts ...Option) iter.Seq2[api.Record, error] {
	return func(yield func(api.Record, error) bool) {
		w := c.watching(q, settingsOf(opts))
		w.record = func(r *api.Record) bool { return yield(*r, nil) }
		if err := w.run(ctx); err != nil {
			yield(api.Record{}, err)
		}
	}
}

// watching is one watch over its connections.
type watching struct {
	client   *Client
	settings settings
	query    url.Values
	record   func(*api.Record) bool
	opened   func() (more bool, err error) // after each connection was made; may be nil

	last     string // id to go on after
	seq      uint64 // busSeq of the last record
	over     bool   // the reader wants no more
	progress bool   // since the last failure
	behind   int    // nodes in a row that do not have the history
	held     int    // … that are in safe mode
	distrust int    // … that are not trusted, or do not trust this client
}

func (c *Client) watching(q api.WatchQuery, s settings) *watching {
	w := &watching{client: c, settings: s, query: url.Values{}}
	from(w.query, q.From)
	if q.Agent != "" {
		w.query.Set("agent", q.Agent)
	}
	if q.Run != "" {
		w.query.Set("run", q.Run)
	}
	if len(q.Kinds) > 0 {
		w.query.Set("kinds", strings.Join(q.Kinds, ","))
	}
	if q.Runs {
		w.query.Set("runs", "true")
	}
	if q.Notes {
		w.query.Set("notes", "true")
	}
	return w
}

func (w *watching) run(ctx context.Context) error {
	if w.settings.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.settings.timeout)
		defer cancel()
	}
	to, err := w.client.choose(ctx, &w.settings, false)
	if err != nil {
		return err
	}
	pause := &call{settings: w.settings}
	for {
		err := w.follow(ctx, to)
		switch {
		case w.over:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case w.final(err):
			return err
		}
		if w.progress {
			w.progress, pause = false, &call{settings: w.settings}
		}
		pause.said = nil
		errors.As(err, &pause.said)
		next, wait := pause.next(w.client.family, to)
		if wait && !pause.pause(ctx) {
			return cmp.Or(ctx.Err(), context.DeadlineExceeded)
		}
		to = next
	}
}

// final tells whether another node would say the same.
func (w *watching) final(err error) bool {
	if isDistrusted(err) {
		w.distrust++
		return w.settings.node != "" || w.distrust >= w.client.servers.count()
	}
	w.distrust = 0
	var said *api.Error
	if !errors.As(err, &said) {
		w.held = 0
		return false
	}
	if said.Code == api.CodeSafeMode {
		w.held++
		return w.settings.node != "" || w.held >= w.client.servers.count()
	}
	w.held = 0
	if said.Code == api.CodeHistoryBehind {
		w.behind++
		return w.settings.node != "" || w.behind >= w.client.servers.count()
	}
	info, _ := api.Lookup(said.Code)
	return !info.Retry
}

// follow reads one connection to its end. Its error says why it ended; with
// over it is the watch's.
func (w *watching) follow(ctx context.Context, to *server) error {
	body, err := w.client.stream(ctx, to, &request{
		method: http.MethodGet, path: w.client.prefix + "/watch", query: w.query, header: w.header,
	})
	if err != nil {
		return err
	}
	defer body.Close()
	events := newFrames(body)
	for !w.over {
		f, dispatched, err := events.next()
		if err != nil {
			return err
		}
		if dispatched {
			if err := w.frame(&f); err != nil {
				return err
			}
		}
		if f.id != "" && !w.over {
			w.last = f.id
		}
	}
	return nil
}

func (w *watching) header(h http.Header) {
	if w.last != "" {
		h.Set(api.HeaderLastEvent, w.last)
	}
}

// frame takes one event in.
func (w *watching) frame(f *frame) error {
	switch f.name {
	case api.EventRecord:
		var r api.Record
		if err := json.Unmarshal(f.data, &r); err != nil {
			return err
		}
		if r.BusSeq <= w.seq {
			return nil // seen before
		}
		w.seq, w.progress, w.behind = r.BusSeq, true, 0
		w.client.saw(r.Index)
		w.over = !w.record(&r)
	case api.EventOpen:
		if w.last == "" {
			w.last = f.id
			if n, err := strconv.ParseUint(f.id, 10, 64); err == nil {
				w.seq = n
			}
		}
		if w.opened != nil {
			more, err := w.opened()
			w.over = !more
			return err
		}
	case api.EventError:
		said := new(api.Error)
		if err := json.Unmarshal(f.data, said); err != nil {
			return err
		}
		return said
	}
	return nil
}
