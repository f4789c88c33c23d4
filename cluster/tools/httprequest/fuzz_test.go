package httprequest

import (
	"bufio"
	"bytes"
	"net/http"
	"testing"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// FuzzAnswer: whatever a service answers, byte by byte, comes to a value within
// its bound, or to a failure.
func FuzzAnswer(f *testing.F) {
	for _, answer := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{\"a\":1.5}",
		"HTTP/1.1 429 Slow\r\nRetry-After: 5\r\nOmni-Usage: tokens=1\r\n\r\nplain\xff",
		"HTTP/1.1 200 OK\r\nContent-Type: application/problem+json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=latin1\r\nEtag: \x80\r\n\r\n\x00",
	} {
		f.Add([]byte(answer))
	}
	a := New(Options{MaxResultBytes: 4 << 10})
	f.Cleanup(a.Close)
	asked, err := http.NewRequest(http.MethodGet, "http://service.example", nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), asked)
		if err != nil {
			return
		}
		defer response.Body.Close()
		judge(t, a.answer(t.Context(), response, nil))
		retryAfter(response.Header)
		usageOf(response.Header)
	})
}

// judge fails the test when a result is neither a value nor a failure.
func judge(t *testing.T, result tools.Result) {
	t.Helper()
	if !result.OK {
		if failure.ClassOf(result.Code).String() == "" {
			t.Fatalf("a failure that is none: %+v", result)
		}
		return
	}
	if problem := value.Check(result.Value, 1<<20); problem != nil {
		t.Fatalf("no value: %v", problem)
	}
}
