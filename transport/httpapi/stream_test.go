package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// watched is an open stream, read line by line as the standard says.
type watched struct {
	t     *testing.T
	lines *bufio.Scanner
	end   func()
}

type sse struct {
	id, event, data, comment string
}

// narrow accepts connections that hold little on their way, so that a reader
// that does not read is soon felt by the server.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	conn, err := n.Listener.Accept()
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetWriteBuffer(4 << 10)
	}
	return conn, err
}

// newNarrowDoor serves a log that is longer than its connections hold.
func newNarrowDoor(t *testing.T, options httpapi.Options) *door {
	g := solo.New(t, 1, solo.Setup{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := httpapi.New(g.Nodes[0], options)
	go func() { _ = server.Serve(narrow{l}) }()
	t.Cleanup(func() { assert.NoError(t, server.Shutdown(context.Background())) })
	d := &door{t, g, "http://" + l.Addr().String()}
	d.fill()
	return d
}

// watch opens a stream; the reply is not nil when there is none.
func (d *door) watch(t *testing.T, query string, headers ...string) (*watched, *reply) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.url+kernelPath+"/watch"+query, nil)
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	end := func() {
		cancel()
		_ = response.Body.Close()
	}
	t.Cleanup(end)
	if response.StatusCode != http.StatusOK {
		body := new(strings.Builder)
		_, err := bufio.NewReader(response.Body).WriteTo(body)
		require.NoError(t, err)
		return nil, &reply{response.StatusCode, response.Header, []byte(body.String())}
	}
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 8<<20)
	return &watched{t, lines, end}, nil
}

// next reads one event, or one comment with its id; ok is false at the end.
func (w *watched) next() (e sse, ok bool) {
	w.t.Helper()
	for w.lines.Scan() {
		field, value, _ := strings.Cut(w.lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "":
			if w.lines.Text() == "" {
				return e, true
			}
			e.comment = value
		case "id":
			e.id = value
		case "event":
			e.event = value
		case "data":
			e.data = value
		}
	}
	return e, false
}

// event reads on to the next event that has data.
func (w *watched) event() sse {
	w.t.Helper()
	for {
		e, ok := w.next()
		require.True(w.t, ok, "the stream ended: %v", w.lines.Err())
		if e.data != "" {
			return e
		}
	}
}

func (w *watched) records(n int) (records []api.Record) {
	w.t.Helper()
	for len(records) < n {
		e := w.event()
		require.Equal(w.t, api.EventRecord, e.event, e.data)
		var r api.Record
		require.NoError(w.t, json.Unmarshal([]byte(e.data), &r))
		require.Equal(w.t, e.id, jsonNumber(r.BusSeq))
		records = append(records, r)
	}
	return records
}

func jsonNumber(n uint64) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func (w *watched) opened() api.Opened {
	w.t.Helper()
	e := w.event()
	require.Equal(w.t, api.EventOpen, e.event)
	var o api.Opened
	require.NoError(w.t, json.Unmarshal([]byte(e.data), &o))
	require.Equal(w.t, e.id, jsonNumber(o.From-1))
	return o
}

// CL-5: ordered, unique, without gaps, what was there and what comes; the
// records are those that the log's pages show.
func TestWatchFromTheBeginning(t *testing.T) {
	d := newDoor(t)
	d.start(literal)
	w, _ := d.watch(t, "?from=1")
	assert.Equal(t, api.Opened{From: 1, Node: "n1"}, w.opened())
	first := w.records(4)
	d.start(literal)
	d.start(echo)
	page := decode[api.LogPage](t, d.get("/log?limit=1000"), http.StatusOK)
	got := append(first, w.records(len(page.Records)-4)...)
	assert.Equal(t, page.Records, got)
}

func TestWatchFromNow(t *testing.T) {
	d := newDoor(t)
	d.start(literal)
	w, _ := d.watch(t, "")
	from := w.opened().From
	done := d.start(literal)
	assert.Equal(t, done.BusSeq, from)
	assert.Equal(t, from, w.records(1)[0].BusSeq)
}

// A reader that goes on with Last-Event-ID, at any node, sees what it has not
// seen, once. A node that is not that far waits until it is.
func TestWatchGoesOnElsewhere(t *testing.T) {
	g := solo.New(t, 2, solo.Setup{})
	urls := g.Serve(t, httpapi.Options{})
	one, two := &door{t, g, urls[0]}, &door{t, g, urls[1]}
	one.start(literal)
	w, _ := one.watch(t, "?from=1")
	w.opened()
	seen := w.records(5)
	w.end()
	g.Nodes[1].Hold()
	one.start(echo)
	whole := decode[api.LogPage](t, one.get("/log?limit=1000"), http.StatusOK).Records

	w, _ = two.watch(t, "?from=1", api.HeaderLastEvent, jsonNumber(seen[4].BusSeq))
	assert.Equal(t, uint64(6), w.opened().From, "the id wins over from")
	ahead, _ := two.watch(t, "", api.HeaderLastEvent, jsonNumber(whole[len(whole)-2].BusSeq))
	ahead.opened()
	g.Nodes[1].Release()
	assert.Equal(t, whole, append(seen, w.records(len(whole)-5)...))
	assert.Equal(t, whole[len(whole)-1:], ahead.records(1))
}

// A watch of one agent may begin before the agent does; ids move on with what
// is passed over, so that going on does not begin far behind.
func TestWatchOfOneAgentAndKind(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{Heartbeat: 20 * time.Millisecond})
	w, _ := d.watch(t, "?agent="+agentA+"&kinds=LIFECYCLE,STEP")
	from := w.opened().From
	other := d.start(literal)
	for {
		e, ok := w.next()
		require.True(t, ok)
		require.Empty(t, e.data)
		assert.Equal(t, "heartbeat", e.comment)
		if e.id != "" {
			id, err := strconv.ParseUint(e.id, 10, 64)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, id, from)
			assert.Greater(t, id, other.BusSeq)
			break
		}
	}
	decode[api.Done](t, d.post("/agents/start", `{"agent":{"id":"`+agentA+`","program":`+literal+`}}`), http.StatusCreated)
	var kinds []string
	for _, r := range w.records(5) {
		assert.Equal(t, agentA, r.AgentID)
		kinds = append(kinds, r.Kind)
	}
	assert.Equal(t, []string{"LIFECYCLE", "LIFECYCLE", "STEP", "LIFECYCLE", "LIFECYCLE"}, kinds)
}

func TestWatchRefusals(t *testing.T) {
	d := newDoor(t)
	_, r := d.watch(t, "", api.HeaderLastEvent, "yesterday")
	refuses(t, *r, 422, "INVALID_ARGUMENT", api.HeaderLastEvent)
	_, r = d.watch(t, "?agent=x")
	refuses(t, *r, 422, "INVALID_ARGUMENT", "agent")
	assert.Equal(t, http.StatusMethodNotAllowed, d.send(http.MethodHead, kernelPath+"/watch", "").status)
}

// Streams are bounded; one that ends gives its place back.
func TestStreamsAreBounded(t *testing.T) {
	d := newDoorWith(t, solo.Setup{}, httpapi.Options{MaxStreams: 2})
	one, _ := d.watch(t, "")
	one.opened()
	two, _ := d.watch(t, "")
	two.opened()
	_, r := d.watch(t, "")
	e := refuses(t, *r, http.StatusTooManyRequests, "TOO_MANY_STREAMS", "")
	assert.True(t, e.Definite)
	refuses(t, d.get("/log/export"), http.StatusTooManyRequests, "TOO_MANY_STREAMS", "")
	one.end()
	require.Eventually(t, func() bool { return d.get("/log/export").status == http.StatusOK }, 5*time.Second, 5*time.Millisecond)
}

// A server that stops ends its streams, and does not wait for them.
func TestShutdownEndsStreams(t *testing.T) {
	g := solo.New(t, 1, solo.Setup{})
	url, stop := g.ServeNode(t, 0, httpapi.Options{})
	d := &door{t, g, url}
	w, _ := d.watch(t, "")
	w.opened()
	began := time.Now()
	stop()
	assert.Less(t, time.Since(began), 5*time.Second)
	_, ok := w.next()
	assert.False(t, ok)
}

// fill makes more log than the buffers of a connection hold.
func (d *door) fill() {
	d.t.Helper()
	text := strings.Repeat("x", 50_000)
	for range 60 {
		d.start(`{"kind":"LITERAL","payload":{"value":"` + text + `"}}`)
	}
}

// A reader that is too slow is told so, if it takes that at all, and can go on
// from the last id it has seen.
func TestSlowReaderIsTold(t *testing.T) {
	d := newNarrowDoor(t, httpapi.Options{SlowAfter: 50 * time.Millisecond})
	w, _ := d.watch(t, "?from=1")
	w.opened()
	time.Sleep(300 * time.Millisecond) // this is the slowness
	var last uint64
	for {
		e := w.event()
		if e.event == api.EventError {
			var said api.Error
			require.NoError(t, json.Unmarshal([]byte(e.data), &said))
			assert.Equal(t, "SLOW_CONSUMER", said.Code)
			assert.Equal(t, jsonNumber(last), e.id)
			break
		}
		id, err := strconv.ParseUint(e.id, 10, 64)
		require.NoError(t, err)
		require.Equal(t, last+1, id)
		last = id
	}
	_, ok := w.next()
	assert.False(t, ok, "the stream ends with its error")
}

// A reader that takes nothing any more is cut, and its place is free again.
func TestReaderThatStopsIsCut(t *testing.T) {
	d := newNarrowDoor(t, httpapi.Options{MaxStreams: 1, WriteTimeout: 100 * time.Millisecond})
	w, _ := d.watch(t, "?from=1")
	w.opened()
	for deadline := time.Now().Add(10 * time.Second); ; {
		other, r := d.watch(t, "")
		if other != nil {
			other.opened()
			break
		}
		refuses(t, *r, http.StatusTooManyRequests, "TOO_MANY_STREAMS", "")
		require.True(t, time.Now().Before(deadline), "the place is not given back")
	}
}
