package traffic

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/transport/api"
)

// wire reads streams as they come, with none of the client's care: what a node sends
// twice is seen twice.
type wire struct{ transport *http.Transport }

func newWire() *wire { return &wire{&http.Transport{DisableCompression: true}} }

func (w *wire) close() { w.transport.CloseIdleConnections() }

// maxLine bounds a line of a stream.
const maxLine = 4 << 20

// watch asks a node for records until take wants no more, ctx ends, or the stream
// breaks. It goes on by the header that a browser would send, or by the query.
func (w *wire) watch(ctx context.Context, base string, q api.WatchQuery, byHeader bool, take func(*api.Record) bool) error {
	query := url.Values{}
	if len(q.Kinds) > 0 {
		query.Set("kinds", strings.Join(q.Kinds, ","))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/v1/kernels/"+api.DefaultKernel+"/watch", nil)
	if err != nil {
		return err
	}
	switch {
	case q.From > 1 && byHeader:
		request.Header.Set(api.HeaderLastEvent, strconv.FormatUint(q.From-1, 10))
	case q.From > 0:
		query.Set("from", strconv.FormatUint(q.From, 10))
	}
	request.URL.RawQuery = query.Encode()
	response, err := w.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return answerOf(response)
	}
	return frames(response.Body, take)
}

func answerOf(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return err
	}
	said := new(api.Error)
	if err := json.Unmarshal(body, said); err != nil || said.Code == "" {
		return fmt.Errorf("status %d, and no code", response.StatusCode)
	}
	said.Status = response.StatusCode
	return said
}

// frames takes a stream of Server-Sent Events apart: fields up to an empty line.
// The id of a record is its busSeq.
func frames(from io.Reader, take func(*api.Record) bool) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	var name, id string
	var data []byte
	for lines.Scan() {
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "id":
			id = string(value)
		case "data":
			data = append(data, value...)
		}
		if len(lines.Bytes()) > 0 {
			continue
		}
		if more, err := frame(name, id, data, take); err != nil || !more {
			return err
		}
		name, data = "", data[:0]
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return io.ErrUnexpectedEOF
}

func frame(name, id string, data []byte, take func(*api.Record) bool) (more bool, err error) {
	switch name {
	case api.EventRecord:
		var r api.Record
		if err := json.Unmarshal(data, &r); err != nil {
			return false, fmt.Errorf("a record of the stream: %w", err)
		}
		if id != strconv.FormatUint(r.BusSeq, 10) {
			return false, fmt.Errorf("record %d has the id %q", r.BusSeq, id)
		}
		return take(&r), nil
	case api.EventError:
		said := new(api.Error)
		if err := json.Unmarshal(data, said); err != nil {
			return false, fmt.Errorf("an error of the stream: %w", err)
		}
		return false, said
	}
	return true, nil
}
