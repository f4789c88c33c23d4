package httprequest

import (
	"net"
	"net/http"
	"time"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// Kind makes registered tools that are one HTTP request each: where it goes is the
// manifest's, and what it says comes from the arguments (TO-9).
type Kind struct {
	options Options
	public  *http.Transport // that reaches no private address
	any     *http.Transport
}

var _ tools.Kind = (*Kind)(nil)

// NewKind returns the kind `http`. Its tools share connections. They go through no
// proxy: an address could not be judged where it is dialled.
func NewKind(options Options) *Kind {
	if options.MaxResultBytes <= 0 {
		options.MaxResultBytes = defaultResultBytes
	}
	return &Kind{options: options, public: newTransport(onlyPublic), any: newTransport(nil)}
}

func newTransport(control control) *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{KeepAlive: 30 * time.Second, Control: control}).DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           256,
		MaxIdleConnsPerHost:    64,
		MaxConnsPerHost:        256,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// Name is what manifests call it.
func (k *Kind) Name() string { return "http" }

// Close drops the idle connections.
func (k *Kind) Close() {
	k.public.CloseIdleConnections()
	k.any.CloseIdleConnections()
}

// Check says what is wrong with a manifest's config.
func (k *Kind) Check(m *kerneltools.Manifest) *failure.Refusal {
	_, refusal := readConfig(m)
	return refusal
}

// Make makes the tool. It holds nothing of its own.
func (k *Kind) Make(m *kerneltools.Manifest) (tools.Caller, error) {
	c, refusal := readConfig(m)
	if refusal != nil {
		return nil, errConfig
	}
	return &templated{config: c, sender: k.Sender(&c.Service, m.Idempotent, k.options.MaxResultBytes)}, nil
}
