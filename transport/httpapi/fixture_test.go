package httpapi_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

const (
	kernelPath = "/v1/kernels/default"
	agentA     = "018f4e5c-0000-7000-8000-00000000000a"
	agentB     = "018f4e5c-0000-7000-8000-00000000000b"
)

// door is one server in front of a group of one.
type door struct {
	t     testing.TB
	group *solo.Group
	url   string
}

func newDoor(t testing.TB) *door { return newDoorWith(t, solo.Setup{}, httpapi.Options{}) }

func newDoorWith(t testing.TB, setup solo.Setup, options httpapi.Options) *door {
	g := solo.New(t, 1, setup)
	return &door{t, g, g.Serve(t, options)[0]}
}

// reply is an answer, read to its end.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (d *door) send(method, path, body string, headers ...string) reply {
	d.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, d.url+path, reader)
	require.NoError(d.t, err)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	require.NoError(d.t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(d.t, err)
	return reply{response.StatusCode, response.Header, content}
}

func (d *door) post(path, body string, headers ...string) reply {
	d.t.Helper()
	return d.send(http.MethodPost, kernelPath+path, body, headers...)
}

func (d *door) get(path string) reply {
	d.t.Helper()
	return d.send(http.MethodGet, kernelPath+path, "")
}

// start makes an agent run a program, and gives its id.
func (d *door) start(program string) api.Done {
	d.t.Helper()
	return decode[api.Done](d.t, d.post("/agents/start", `{"agent":{"program":`+program+`}}`), http.StatusCreated)
}

func decode[T any](t testing.TB, r reply, status int) T {
	t.Helper()
	require.Equal(t, status, r.status, "%s", r.body)
	require.Equal(t, "application/json", r.header.Get("Content-Type"))
	var into T
	strict := json.NewDecoder(bytes.NewReader(r.body))
	strict.DisallowUnknownFields()
	require.NoError(t, strict.Decode(&into), "%s", r.body)
	return into
}

// refuses checks an error's code, field and status, and that it says what
// happened.
func refuses(t testing.TB, r reply, status int, code, field string) api.Error {
	t.Helper()
	e := decode[api.Error](t, r, status)
	assert.Equal(t, code, e.Code, "%s", r.body)
	assert.Equal(t, field, e.Field, "%s", r.body)
	assert.NotEmpty(t, e.Message)
	assert.NotEmpty(t, e.Node)
	return e
}

const (
	literal = `{"kind":"LITERAL","payload":{"value":42}}`
	echo    = `{"kind":"CALL","payload":{"tool":"echo","args":{"hello":"world"}}}`
)
