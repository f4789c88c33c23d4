package raftstream

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const victimVariable = "RAFTSTREAM_TEST_VICTIM"

// victim is another process with an endpoint. It tells its address and waits to
// be killed.
func victim() {
	e, err := Listen(Options{Listen: "127.0.0.1:0", ClusterID: "cluster-1", NodeID: "victim"})
	if err == nil {
		_, err = e.Kernel("k")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(e.Address())
	_, _ = bufio.NewReader(os.Stdin).ReadByte() // ends with its parent
}

// startVictim returns the process and the address it listens on.
func startVictim(t *testing.T) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimVariable+"=1")
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return cmd, strings.TrimSpace(address)
}

// watching begins to watch and returns when the stream stands.
func watching(t *testing.T, address string) (k *Kernel, result <-chan error) {
	t.Helper()
	k = kernel(t, listen(t, "watcher"), "k")
	out := make(chan error, 1)
	go func() { out <- k.AwaitCrash(t.Context(), address) }()
	require.Eventually(t, func() bool {
		k.peers.streams.mu.Lock()
		defer k.peers.streams.mu.Unlock()
		return len(k.peers.streams.open) == 1
	}, 5*time.Second, time.Millisecond)
	return k, out
}

// A real process is killed.
func TestAwaitCrashOfAKilledProcess(t *testing.T) {
	for range 5 {
		process, address := startVictim(t)
		_, result := watching(t, address)
		began := time.Now()
		require.NoError(t, process.Process.Kill())
		select {
		case err := <-result:
			require.NoError(t, err)
			t.Logf("known after %v", time.Since(began))
		case <-time.After(5 * time.Second):
			t.Fatal("a killed process was not noticed")
		}
	}
}

// A paused process is no crash, however long it takes.
func TestAwaitCrashOfAPausedProcess(t *testing.T) {
	process, address := startVictim(t)
	k, result := watching(t, address)
	require.NoError(t, process.Process.Signal(syscall.SIGSTOP))
	defer func() { _ = process.Process.Signal(syscall.SIGCONT) }()
	select {
	case err := <-result:
		t.Fatalf("taken for a crash: %v", err)
	case <-time.After(500 * time.Millisecond):
	}
	require.NoError(t, k.Close())
	require.Error(t, <-result)
}

// The stream breaks, but the process is there: it is watched on.
func TestAwaitCrashGoesOnAfterABreak(t *testing.T) {
	server := listen(t, "server", func(o *Options) { o.Limits.Idle = 20 * time.Millisecond })
	kernel(t, server, "k")
	_, result := watching(t, server.Address())
	select {
	case err := <-result:
		t.Fatalf("a stream that was closed for being idle was taken for a crash: %v", err)
	case <-time.After(300 * time.Millisecond):
	}
	require.NoError(t, server.Close())
	select {
	case err := <-result:
		require.NoError(t, err)
	case <-time.After(5 * time.Second):
		t.Fatal("the end was not noticed")
	}
}

// Nothing was ever there: that is no crash.
func TestAwaitCrashNeverReached(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	k := kernel(t, listen(t, "watcher"), "k")
	require.Error(t, k.AwaitCrash(t.Context(), address))
}

// A host that answers nothing, or says it cannot be reached, is no crash: the
// stream breaks, and the new connection fails in another way than refused.
func TestAwaitCrashOfAnUnreachableHost(t *testing.T) {
	for name, failure := range map[string]error{
		"no route": syscall.EHOSTUNREACH,
		"timeout":  context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			server := listen(t, "server")
			kernel(t, server, "k")
			var dials int
			watcher := listen(t, "watcher", func(o *Options) {
				o.Dial = func(ctx context.Context, address string) (net.Conn, error) {
					if dials++; dials > 1 {
						return nil, &net.OpError{Op: "dial", Err: failure}
					}
					var d net.Dialer
					return d.DialContext(ctx, "tcp", address)
				}
			})
			k := kernel(t, watcher, "k")
			result := make(chan error, 1)
			go func() { result <- k.AwaitCrash(t.Context(), server.Address()) }()
			require.Eventually(t, func() bool { return server.streams.Load() == 1 }, 5*time.Second, time.Millisecond)
			require.NoError(t, server.Close())
			require.ErrorIs(t, <-result, failure)
		})
	}
}
