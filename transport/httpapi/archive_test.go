package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// CL-5: a watch from below what was archived is told COMPACTED, and where to
// begin; one that is under way is told so too.
func TestArchivedLog(t *testing.T) {
	d := newDoorWith(t, solo.Setup{Config: func(c *config.Config) { c.SegmentBytes = 4096 }}, httpapi.Options{})
	refuses(t, d.post("/log/archive", ""), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "before")
	refuses(t, d.post("/log/archive", `{"before":-1}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "before")
	refuses(t, d.post("/log/archive", `{"after":1}`), http.StatusUnprocessableEntity, "INVALID_ARGUMENT", "after")
	for range 20 {
		d.start(literal)
	}
	done := decode[api.Done](t, d.post("/log/archive", ""), http.StatusOK)
	page := decode[api.LogPage](t, d.get(fmt.Sprintf("/log?from=%d", done.BusSeq)), http.StatusOK)
	_, r := d.watch(t, "?from=1")
	e := refuses(t, *r, http.StatusGone, "COMPACTED", "from")
	require.NotZero(t, e.First)
	assert.Less(t, e.First, page.Next)
	_, r = d.watch(t, fmt.Sprintf("?from=%d", e.First-1))
	assert.Equal(t, e.First, refuses(t, *r, http.StatusGone, "COMPACTED", "from").First)
	w, _ := d.watch(t, fmt.Sprintf("?from=%d", e.First))
	w.opened()
	assert.Equal(t, e.First, w.records(1)[0].BusSeq)
}
