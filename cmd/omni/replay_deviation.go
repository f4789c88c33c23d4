package main

import (
	"encoding/hex"
	"encoding/json"

	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/logging"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/kernel/state"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi/recordjson"
)

// deviating renders what differs, by what was known until then.
type deviating struct{ state *state.State }

func (d deviating) render(found *replay.Deviation) *show.Deviation {
	at := logging.Block{Index: found.Index, Term: found.Term, ClockMillis: found.ClockMillis, FirstSeq: found.Seq}
	return &show.Deviation{
		BusSeq: found.Seq, Index: found.Index, Position: found.Position, What: found.What,
		Recorded: side(d.record(&at, found.Recorded)), Replayed: side(d.record(&at, found.Replayed)),
	}
}

// record renders one side; the body of one that cannot be decoded in hex.
func (d deviating) record(at *logging.Block, r *logging.Record) *api.Record {
	if r == nil || d.state == nil {
		return nil
	}
	rendered, err := recordjson.New(nil).One(d.state, at, r)
	if err != nil {
		return &api.Record{BusSeq: r.Seq, Index: at.Index, Kind: kernel.KindName(bus.Kind(r.Kind)), Tick: r.Tick, Step: r.Step, Body: []byte(`"` + hex.EncodeToString(r.Body) + `"`)}
	}
	return rendered
}

// side is one side as JSON; null when there is none.
func side(r *api.Record) json.RawMessage {
	raw, err := json.Marshal(r)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}
