package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
)

// httpCounterpart is a server that answers every request at once.
func httpCounterpart(*Options, string) (*counterpart, error) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // whoever sent half of it gets the same answer
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	asking := newAsking()
	return &counterpart{
		config: map[string]any{"url": server.URL + "/noop", "method": "POST", "private": true},
		args:   func(i int) any { return map[string]any{"n": i} },
		direct: func(ctx context.Context) error { return asking.post(ctx, server.URL+"/noop", `{"n":0}`) },
		close: func() {
			asking.CloseIdleConnections()
			server.Close()
		},
	}, nil
}

// asking is a client that keeps its connection, as the adapters do.
type asking struct{ *http.Client }

func newAsking() asking {
	return asking{&http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
}

func (a asking) post(ctx context.Context, url, body string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := a.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	return nil
}
