package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/httpapi"
	"github.com/omnikernel/omnikernel/transport/httpapi/solo"
)

// fortress is a door under attack: its server can be looked at, and so can the
// memory of the process, in which the attackers are too.
type fortress struct {
	*door
	server *httpapi.Server
	at     string
}

func newFortress(t *testing.T, options httpapi.Options) *fortress {
	t.Helper()
	g := solo.New(t, 1, solo.Setup{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := httpapi.New(g.Nodes[0], options)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel() // what the attackers hold is cut
		_ = server.Shutdown(ended)
		require.NoError(t, <-served)
	})
	return &fortress{&door{t, g, "http://" + l.Addr().String()}, server, l.Addr().String()}
}

// connect dials from an address of loopback's network, so that a test has as
// many callers as it likes. Whoever is turned away may find the door closed.
func (f *fortress) connect(from string) net.Conn {
	f.t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 30 * time.Second}
	conn, err := dialer.Dial("tcp", f.at)
	require.NoError(f.t, err)
	f.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// goodClient is one that asks for what it may: it must be served, whatever else
// goes on.
func (f *fortress) goodClient(t *testing.T) {
	t.Helper()
	client := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP("127.0.0.99")}}).DialContext,
	}}
	defer client.CloseIdleConnections()
	for range 20 {
		response, err := client.Post(f.url+kernelPath+"/agents", "application/json", strings.NewReader(`{"name":"good"}`))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusCreated, response.StatusCode)
	}
}

// emptied waits until the server has let go of all but n connections.
func (f *fortress) emptied(n int64) {
	f.t.Helper()
	require.Eventually(f.t, func() bool { return f.server.Limits().Connections.Held <= n }, time.Minute, 10*time.Millisecond)
}

// memory is what the process has of live objects and stacks.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// grows runs an attack and gives how much larger the process was at most, what
// was garbage by then included.
func grows(attack func()) uint64 {
	runtime.GC()
	before := memory()
	var most atomic.Uint64
	ended, seen := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(seen)
		for {
			most.Store(max(most.Load(), memory()))
			select {
			case <-ended:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	attack()
	close(ended)
	<-seen
	return most.Load() - min(before, most.Load())
}

const mib = 1 << 20

// files raises how many files the process may have open.
func files(t *testing.T, n uint64) {
	t.Helper()
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur >= n {
		return
	}
	before := limit
	limit.Cur, limit.Max = n, max(n, limit.Max)
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit), "the test needs %d open files: ulimit -n", n)
	t.Cleanup(func() {
		before.Max = limit.Max // lowering it could not be taken back
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before)
	})
}

// answer reads the status of what a connection was told.
func answer(conn net.Conn) (status int, code string, err error) {
	if err = conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, "", err
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 512), nil)
	if err != nil {
		return 0, "", err
	}
	if response.Header.Get("Content-Type") != "application/json" {
		return response.StatusCode, "", nil
	}
	body := make([]byte, 256)
	n, err := io.ReadFull(response.Body, body)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, "", err
	}
	_, after, _ := strings.Cut(string(body[:n]), `"code":"`)
	code, _, _ = strings.Cut(after, `"`)
	return response.StatusCode, code, nil
}

// gone tells that the other side has closed, and not that it is slow.
func gone(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed)
}

// slow tells that the other side took nothing for a while.
func slow(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }

// methodsOf reads an OpenAPI document: the methods of each path.
func methodsOf(t testing.TB, document []byte) map[string][]string {
	t.Helper()
	var read struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(t, json.Unmarshal(document, &read))
	all := make(map[string][]string)
	for path, methods := range read.Paths {
		for method := range methods {
			all[path] = append(all[path], strings.ToUpper(method))
		}
	}
	return all
}
