package httpapi_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// LO-16: the manifest comes in pages, which together are all of it: segment
// after segment, each going on where the one before ended.
func TestSegmentsComeInPages(t *testing.T) {
	d := newDoorWith(t, solo.Setup{Config: func(c *config.Config) { c.SegmentBytes = 4096 }}, httpapi.Options{})
	for range 90 {
		require.Equal(t, http.StatusCreated, d.post("/agents", `{"program":`+echo+`}`).status)
	}
	whole := decode[api.LogSegments](t, d.get("/log/segments"), http.StatusOK)
	require.Greater(t, len(whole.Segments), 2)
	require.Zero(t, whole.Next)
	var paged []api.LogSegment
	for next := uint64(1); next != 0; {
		page := decode[api.LogSegments](t, d.get("/log/segments?limit=1&from="+strconv.FormatUint(next, 10)), http.StatusOK)
		require.Len(t, page.Segments, 1)
		paged = append(paged, page.Segments...)
		next = page.Next
	}
	assert.Equal(t, whole.Segments, paged)
	end, seq, chain := uint64(0), uint64(1), whole.Segments[0].ChainIn
	for _, s := range whole.Segments {
		assert.Equal(t, [2]uint64{end, seq}, [2]uint64{s.Start, s.FirstSeq})
		assert.Equal(t, chain, s.ChainIn)
		assert.GreaterOrEqual(t, s.Bytes, uint64(4096))
		end, seq, chain = s.Start+s.Bytes, s.LastSeq+1, s.ChainOut
	}
	assert.Equal(t, api.LogTail{FirstSeq: seq, Start: end, ChainIn: chain}, whole.Tail)
}
