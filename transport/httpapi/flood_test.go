package httpapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/httpapi"
)

// LI-8: hundreds of clients that send their headers and bodies a byte at a time
// keep nobody else waiting, hold hardly any memory, and are gone when their
// time is over.
func TestSlowLoris(t *testing.T) {
	f := newFortress(t, httpapi.Options{HeaderTimeout: 3 * time.Second, BodyTimeout: 3 * time.Second})
	const each = 300
	grown := grows(func() {
		var conns []net.Conn
		for i := range each {
			head, body := f.connect("127.0.0.2"), f.connect("127.0.0.3")
			conns = append(conns, head, body)
			_, err := fmt.Fprintf(head, "POST %s/agents HTTP/1.1\r\nHost: x\r\nX-%d: ", kernelPath, i)
			require.NoError(t, err)
			_, err = fmt.Fprintf(body, "POST %s/batch HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{", kernelPath)
			require.NoError(t, err)
		}
		f.goodClient(t)
		for end := time.Now().Add(time.Minute); len(conns) > 0; {
			require.True(t, time.Now().Before(end), "%d are still there", len(conns))
			conns = slices.DeleteFunc(conns, func(conn net.Conn) bool {
				_, err := conn.Write([]byte("a"))
				return err != nil
			})
			f.goodClient(t)
		}
	})
	f.emptied(1)
	assert.Zero(t, f.server.Limits().BodyBytes.Held)
	t.Logf("%d slow clients: %d MiB", 2*each, grown/mib)
	assert.Less(t, grown, uint64(128*mib))
}

// LI-8: ten thousand clients that ask for a stream and say no more: as many as
// there are places have one, the others are told why not; what they all cost is
// bounded, and nobody stays shut out when they go.
func TestTenThousandIdleClients(t *testing.T) {
	files(t, 9000)
	f := newFortress(t, httpapi.Options{})
	const all, connections, streams, each = 10_000, 4096, 256, 64
	var conns []net.Conn
	told := make(map[string]int)
	grown := grows(func() {
		for i := range all {
			conn := f.connect(fmt.Sprint("127.0.0.", 2+i%8)) // eight callers, any four of whom could have all the streams
			_, err := conn.Write([]byte("GET " + kernelPath + "/watch HTTP/1.1\r\nHost: x\r\n\r\n"))
			if err != nil && !gone(err) {
				require.NoError(t, err)
			}
			status, code, err := answer(conn)
			if err != nil && gone(err) { // turned away faster than it could ask: its answer is lost on the way
				status, code = http.StatusServiceUnavailable, "TOO_MANY_CONNECTIONS"
			} else {
				require.NoError(t, err)
			}
			told[fmt.Sprint(status, " ", code)]++
			if status == http.StatusServiceUnavailable {
				require.NoError(t, conn.Close())
				continue
			}
			conns = append(conns, conn)
		}
	})
	assert.Equal(t, map[string]int{
		"200 ": streams, "429 TOO_MANY_STREAMS": connections - streams, "503 TOO_MANY_CONNECTIONS": all - connections,
	}, told)
	limits := f.server.Limits()
	assert.Equal(t, int64(streams), limits.Streams.Held)
	assert.Equal(t, int64(connections), limits.Connections.Held)
	assert.Equal(t, uint64(all-connections), limits.Connections.Turned)
	t.Logf("%d connections, %d of them streams: %d MiB, %d KiB each", connections, streams, grown/mib, grown/connections/1024)
	assert.Less(t, grown, uint64(512*mib))
	for _, conn := range conns {
		require.NoError(t, conn.Close())
	}
	f.emptied(0)
	f.goodClient(t)
}

// gib is what some clients would send.
const gib = 1 << 30

// The ways to send it: with its length, and in chunks without an end in sight.
var largeBodies = []struct {
	header string
	piece  []byte
}{
	{fmt.Sprint("Content-Length: ", gib), bytes.Repeat([]byte("a"), 0x10000)},
	{"Transfer-Encoding: chunked", []byte("10000\r\n" + strings.Repeat("a", 0x10000) + "\r\n")},
}

// LI-8: a body of a gigabyte is refused on every route before it is read, said
// to be so long or not; no route reads one that it does not take.
func TestGigabytes(t *testing.T) {
	f := newFortress(t, httpapi.Options{})
	var requests []string // method and path
	for path, methods := range f.paths() {
		path = strings.NewReplacer("{kernel}", "default", "{id}", agentA).Replace(path)
		path = inPath.ReplaceAllString(path, "1")
		for _, method := range methods {
			if strings.HasSuffix(path, "/watch") {
				path += "?from=0" // refused: a stream is answered without an end
			}
			requests = append(requests, method+" "+path)
		}
	}
	require.Greater(t, len(requests), 40)
	grown := grows(func() {
		var attacks sync.WaitGroup
		defer attacks.Wait()
		turns := make(chan struct{}, 32) // the server takes half a second to close on each
		for _, request := range requests {
			for _, body := range largeBodies {
				turns <- struct{}{}
				conn := f.connect("127.0.0.2")
				attacks.Go(func() {
					sent, err := pour(conn, request, body.header, body.piece)
					assert.True(t, gone(err), "%s %s took no more, and was still there: %v", request, body.header, err)
					assert.Less(t, sent, 64*mib, "%s %s", request, body.header)
					<-turns
				})
			}
		}
	})
	f.emptied(1) // that of paths
	f.goodClient(t)
	t.Logf("two bodies of a gigabyte to each of %d routes: %d MiB", len(requests), grown/mib)
	assert.Less(t, grown, uint64(256*mib))
}

var inPath = regexp.MustCompile(`\{[a-z]+\}`)

// pour sends pieces of a body until the server has enough, and tells how many
// bytes went out.
func pour(conn net.Conn, request, header string, piece []byte) (sent int, err error) {
	defer func() { _ = conn.Close() }()
	if _, err = fmt.Fprintf(conn, "%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n\r\n", request, header); err != nil {
		return 0, err
	}
	for sent < gib {
		if err := conn.SetWriteDeadline(time.Now().Add(20 * time.Second)); err != nil {
			return sent, err
		}
		n, err := conn.Write(piece)
		if sent += n; err != nil {
			return sent, err
		}
	}
	return sent, errors.New("all of it was taken")
}

// paths are all addresses and their methods, as the API tells of itself.
func (f *fortress) paths() map[string][]string {
	f.t.Helper()
	document := f.send(http.MethodGet, "/openapi.json", "")
	require.Equal(f.t, http.StatusOK, document.status)
	return methodsOf(f.t, document.body)
}

// LI-8: what is too long is told so also when its sender listens: a command, a
// batch, and a request that asks first.
func TestGigabytesAreAnswered(t *testing.T) {
	f := newFortress(t, httpapi.Options{})
	for _, path := range []string{"/agents", "/batch", "/sessions"} {
		for _, expect := range []string{"", "Expect: 100-continue\r\n"} {
			conn := f.connect("127.0.0.2")
			_, err := fmt.Fprintf(conn, "POST %s%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n", kernelPath, path, gib, expect)
			require.NoError(t, err)
			status, code, err := answer(conn)
			require.NoError(t, err)
			assert.Equal(t, http.StatusRequestEntityTooLarge, status, path)
			assert.Equal(t, "TOO_LARGE", code, path)
		}
	}
	assert.Equal(t, uint64(6), f.server.Limits().TooLarge)
}

// LI-8: a header without an end is cut off.
func TestEndlessHeaders(t *testing.T) {
	f := newFortress(t, httpapi.Options{})
	grown := grows(func() {
		for _, piece := range []string{"X-A: " + strings.Repeat("b", 1000) + "\r\n", strings.Repeat("c", 1000)} {
			conn := f.connect("127.0.0.2")
			_, err := conn.Write([]byte("GET /healthz HTTP/1.1\r\nHost: x\r\nX-B: "))
			require.NoError(t, err)
			sent := 0
			for err == nil && sent < 256*mib {
				require.NoError(t, conn.SetWriteDeadline(time.Now().Add(20*time.Second)))
				var n int
				n, err = conn.Write([]byte(piece))
				sent += n
			}
			assert.True(t, gone(err), "%v", err)
			assert.Less(t, sent, 32*mib)
		}
	})
	assert.Less(t, grown, uint64(64*mib))
}

// LI-8: clients that ask on and on and read no answers are waited for by nobody.
func TestPipelinedFloods(t *testing.T) {
	f := newFortress(t, httpapi.Options{})
	flood := []byte(strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 1000))
	grown := grows(func() {
		for range 50 {
			conn := f.connect("127.0.0.2")
			for end := time.Now().Add(50 * time.Millisecond); ; {
				require.NoError(t, conn.SetWriteDeadline(end))
				if _, err := conn.Write(flood); err != nil {
					require.True(t, slow(err) || gone(err), "%v", err)
					break
				}
			}
		}
		f.goodClient(t)
	})
	t.Logf("50 pipelined floods: %d MiB", grown/mib)
	assert.Less(t, grown, uint64(128*mib))
}
