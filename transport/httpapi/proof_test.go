package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logproof"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// LO-7: a proof is there once a Checkpoint has covered the record, holds, and
// still holds after the log was archived.
func TestProof(t *testing.T) {
	d := newDoorWith(t, solo.Setup{Config: func(c *config.Config) { c.SegmentBytes = 4096 }}, httpapi.Options{})
	refuses(t, d.get("/log/proof?seq=1"), http.StatusServiceUnavailable, "NOT_COVERED", "seq")
	refuses(t, d.get("/log/proof?seq=1000000"), http.StatusNotFound, "NOT_FOUND", "seq")
	refuses(t, d.get("/log/proof?seq=0"), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "seq")
	var agents []api.Done
	for range 20 {
		agents = append(agents, d.start(literal))
	}
	checkpoint(t, d)
	young := d.start(literal)
	refuses(t, d.get(fmt.Sprintf("/log/proof?seq=%d", young.BusSeq)), http.StatusServiceUnavailable, "NOT_COVERED", "seq")
	var proofs []logproof.Proof
	for _, a := range agents {
		p := decode[logproof.Proof](t, d.get(fmt.Sprintf("/log/proof?seq=%d", a.BusSeq)), http.StatusOK)
		assert.Equal(t, a.BusSeq, p.BusSeq)
		proofs = append(proofs, p)
	}
	decode[api.Done](t, d.post("/log/archive", ""), http.StatusOK)
	checkpoint(t, d)
	for i := range proofs {
		_, err := logproof.Check(&proofs[i])
		require.NoError(t, err)
		again := decode[logproof.Proof](t, d.get(fmt.Sprintf("/log/proof?seq=%d", proofs[i].BusSeq)), http.StatusOK)
		assert.Equal(t, proofs[i].Block, again.Block)
		assert.Equal(t, proofs[i].Number, again.Number)
		assert.NotEqual(t, proofs[i].Chain, again.Chain)
	}
}

func checkpoint(t *testing.T, d *door) {
	t.Helper()
	n := d.group.Nodes[0]
	answer := n.Propose(t.Context(), event.Event{Kind: event.Checkpoint, Principal: "node:n1", Body: event.Encode(event.Compare{Index: 1})})
	require.Equal(t, cluster.Applied, answer.Verdict)
}
