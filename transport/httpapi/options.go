package httpapi

import (
	"crypto/tls"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/omnikernel/omnikernel/cluster/metrics"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/httpapi/callers"
	"github.com/omnikernel/omnikernel/transport/identity"
)

// Options of a server. The zero value of each is its default.
type Options struct {
	Lookup flows.Lookup // finds evaluators; registry.Lookup
	Logger hclog.Logger // silence
	TLS    *tls.Config  // how connections are secured; nil: they are not. HTTP/1.1 only
	// Certificates tells what the node proves itself with; nil: there is no TLS.
	Certificates func() identity.State
	// Panicked is told what a request panicked with, in the deferred function that
	// recovered it; nil: nobody is.
	Panicked func(cause any)

	// Metrics count requests, and are what /metrics answers; ones of its own.
	Metrics *metrics.Metrics

	// CheckTool is asked about a manifest before it is proposed, beyond the kernel's
	// own rules, by a field within it; nothing is asked when it is nil.
	CheckTool func(m *tools.Manifest) *failure.Refusal

	// CheckAnswer is asked about a person's answer to a call of the tool, by a field
	// from result on; nothing is asked when it is nil (TO-12).
	CheckAnswer func(m *tools.Manifest, answer value.Raw) *failure.Refusal

	CommandTimeout time.Duration // how long an outcome is waited for; 10 s
	ReadTimeout    time.Duration // how long a read waits for its index; 5 s
	HeaderTimeout  time.Duration // to send a request's header; 5 s
	BodyTimeout    time.Duration // to send a whole request; 30 s
	IdleTimeout    time.Duration // of a connection between requests; 2 min
	WriteTimeout   time.Duration // to take one answer, or one piece of a stream; 30 s
	Heartbeat      time.Duration // between signs of life of a watch; 15 s
	SlowAfter      time.Duration // a watch that needs longer to take one piece is cut; 10 s

	MaxConnections int   // 4,096
	MaxStreams     int   // watches and exports at once; 256
	MaxBodyBytes   int64 // of all bodies that are being worked on; 256 MiB

	// What one caller may have of them: so many that they suffice, and so few
	// that others are left some.
	MaxCallerConnections int   // of one address; 2,048
	MaxCallerStreams     int   // 64
	MaxCallerBodyBytes   int64 // a quarter of MaxBodyBytes

	Rate  callers.Rate // what one caller may ask for; callers.DefaultRate
	Hosts *Hosts       // what requests may call the node; nil: anything
}

func (o Options) withDefaults() Options {
	if o.Lookup == nil {
		o.Lookup = registry.Lookup
	}
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	if o.Panicked == nil {
		o.Panicked = func(any) {}
	}
	if o.Metrics == nil {
		o.Metrics = metrics.New(metrics.Build{})
	}
	orTime(&o.CommandTimeout, 10*time.Second)
	orTime(&o.ReadTimeout, 5*time.Second)
	orTime(&o.HeaderTimeout, 5*time.Second)
	orTime(&o.BodyTimeout, 30*time.Second)
	orTime(&o.IdleTimeout, 2*time.Minute)
	orTime(&o.WriteTimeout, 30*time.Second)
	orTime(&o.Heartbeat, 15*time.Second)
	orTime(&o.SlowAfter, 10*time.Second)
	if o.MaxConnections <= 0 {
		o.MaxConnections = 4096
	}
	if o.MaxStreams <= 0 {
		o.MaxStreams = 256
	}
	if o.MaxBodyBytes <= 0 {
		o.MaxBodyBytes = 256 << 20
	}
	if o.MaxCallerConnections <= 0 {
		o.MaxCallerConnections = 2048
	}
	if o.MaxCallerStreams <= 0 {
		o.MaxCallerStreams = 64
	}
	if o.MaxCallerBodyBytes <= 0 {
		o.MaxCallerBodyBytes = o.MaxBodyBytes / 4
	}
	return o
}

func orTime(d *time.Duration, otherwise time.Duration) {
	if *d <= 0 {
		*d = otherwise
	}
}

// maxHeaderBytes bounds a request's header.
const maxHeaderBytes = 16 << 10
