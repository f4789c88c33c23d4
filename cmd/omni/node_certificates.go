package main

import (
	"context"
	"slices"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/certs"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// lookWithin bounds one look at a node that is waited for.
const lookWithin = 5 * time.Second

// awaitFiles asks a node how it is until it has the certificates of these files in use, and
// no authorities beside those of a file of authorities. It gives what the node said last.
func (a *app) awaitFiles(ctx context.Context, connection *client.Client, files []string, options []client.Option) (state api.NodeState, err error) {
	var wanted []certs.Certificate
	for _, file := range files {
		var in certs.Inspection
		if err := in.Inspect(file, nil, time.Now()); err != nil {
			return state, aboutCerts(err)
		}
		if in.Certificates[0].Kind != "authority" {
			in.Certificates = in.Certificates[:1] // what follows vouches for it
		}
		wanted = append(wanted, in.Certificates...)
	}
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	for {
		asking, done := context.WithTimeout(ctx, lookWithin)
		now, asked := connection.NodeState(asking, options...)
		done()
		switch {
		case asked == nil:
			if state, err = now, notInUse(&now, wanted); err == nil {
				return state, nil
			}
		case ctx.Err() == nil && isFinal(asked):
			return state, asked
		case err == nil:
			err = asked
		}
		select {
		case <-time.After(nodeLook):
		case <-ctx.Done():
			return state, err
		}
	}
}

// notInUse says which of the certificates a node does not have in use, and why; or which
// authority it trusts beside them.
func notInUse(state *api.NodeState, wanted []certs.Certificate) error {
	if state.TLS == nil {
		return tell.NotHeld("%s has no TLS", state.Node)
	}
	var serials []string
	authorities := false
	why := after(": ", state.TLS.Refused)
	for i := range wanted {
		one := &wanted[i]
		serials, authorities = append(serials, one.Serial), authorities || one.Kind == "authority"
		if !slices.ContainsFunc(state.TLS.Certificates, func(c api.NodeCertificate) bool { return c.Serial == one.Serial }) {
			return tell.NotHeld("%s does not use %s, serial %s%s", state.Node, one.From, one.Serial, why)
		}
	}
	for _, c := range state.TLS.Certificates {
		if authorities && c.Role == "authority" && !slices.Contains(serials, c.Serial) {
			return tell.NotHeld("%s still trusts the authority %s%s", state.Node, c.Serial, why)
		}
	}
	return nil
}
