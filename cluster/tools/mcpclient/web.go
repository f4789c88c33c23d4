package mcpclient

import (
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
)

// web is the way to a server's URL. It follows no redirect: a server's address is one.
func (s *Server) web(o *Options, transport *http.Transport, secrets *httprequest.Redactor) (*mcp.StreamableClientTransport, *Failure) {
	headers := make(http.Header, len(s.Headers))
	for name, text := range s.Headers {
		text, failure := o.resolve(s, text, secrets)
		if failure != nil {
			return nil, failure
		}
		if rule := httprequest.HeaderRule(name, text); rule != "" {
			return nil, failed(NotMade, "the header "+name+" cannot be sent as it is on this node")
		}
		headers.Set(name, text)
	}
	return &mcp.StreamableClientTransport{
		Endpoint: s.URL, MaxRetries: resumptions, DisableStandaloneSSE: true, MaxEventSize: 2 * maxMessage, // answer is stricter
		HTTPClient: &http.Client{
			Transport:     &watched{over: transport, headers: headers},
			CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
		},
	}, nil
}

// watched sends requests with the server's headers, bounds answers, and notes on a
// call's mark what became of it.
type watched struct {
	over    *http.Transport
	headers http.Header
}

func (w *watched) RoundTrip(request *http.Request) (*http.Response, error) {
	m := new(mark)
	if request.Method == http.MethodPost { // the others only ask for what is there
		m = markOf(request.Context())
	}
	request = request.Clone(httptrace.WithClientTrace(request.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { m.sent.Store(true) }, // until then nothing can have reached the server
	}))
	for name, values := range w.headers {
		request.Header[name] = values
	}
	request.Header.Set("User-Agent", "omnikernel")
	response, err := w.over.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	m.status.Store(int32(response.StatusCode))
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if media != "application/json" && media != "text/event-stream" {
		m.whole.Store(true)
	}
	response.Body = &answer{ReadCloser: response.Body, mark: m, json: strings.HasSuffix(media, "json")}
	return response, nil
}

// answer is the body of a response.
type answer struct {
	io.ReadCloser
	mark *mark
	json bool
	read int
}

func (a *answer) Read(p []byte) (int, error) {
	if a.read > maxMessage {
		a.mark.flooded.Store(true)
		return 0, errFlood
	}
	n, err := a.ReadCloser.Read(p)
	a.read += n
	if err == io.EOF && a.json {
		a.mark.whole.Store(true)
	}
	return n, err
}
