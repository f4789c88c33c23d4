//go:build root

package wire_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Requests of 200 bytes and answers of as many over 16 connections: what one costs
// over the switch, both network stacks and both programs included, and what it costs
// over the loopback interface.
func BenchmarkRequests(b *testing.B) {
	answer := func(conn net.Conn) {
		message := make([]byte, 200)
		for {
			if _, err := io.ReadFull(conn, message); err != nil {
				return
			}
			if _, err := conn.Write(message); err != nil {
				return
			}
		}
	}
	b.Run("switch", func(b *testing.B) {
		p := newPair(b)
		address := p.serve(b, answer)
		requests(b, func() (net.Conn, error) { return p.dial("tcp", address) })
	})
	b.Run("loopback", func(b *testing.B) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(b, err)
		accept(b, l, answer)
		requests(b, func() (net.Conn, error) { return net.Dial("tcp", l.Addr().String()) })
	})
}

func requests(b *testing.B, dial func() (net.Conn, error)) {
	var conns []net.Conn
	for range 16 {
		conn, err := dial()
		require.NoError(b, err)
		defer conn.Close()
		conns = append(conns, conn)
	}
	b.ReportAllocs()
	var left atomic.Int64
	left.Store(int64(b.N))
	before, began := processorTime(b), time.Now()
	b.ResetTimer()
	var all sync.WaitGroup
	for _, conn := range conns {
		all.Go(func() {
			message := make([]byte, 200)
			for left.Add(-1) >= 0 {
				if _, err := conn.Write(message); err != nil {
					b.Error(err)
					return
				}
				if _, err := io.ReadFull(conn, message); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e3, "cpu-µs/op")
	b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "op/s")
}

// Bytes in one direction.
func BenchmarkBulk(b *testing.B) {
	p := newPair(b)
	done := make(chan struct{})
	address := p.serve(b, func(conn net.Conn) {
		_, _ = io.Copy(io.Discard, conn)
		close(done)
	})
	conn, err := p.dial("tcp", address)
	require.NoError(b, err)
	block := make([]byte, 64<<10)
	b.SetBytes(int64(len(block)))
	before := processorTime(b)
	b.ResetTimer()
	for range b.N {
		_, err := conn.Write(block)
		require.NoError(b, err)
	}
	require.NoError(b, conn.Close())
	<-done
	b.StopTimer()
	b.ReportMetric(float64(processorTime(b)-before)/float64(b.N)/1e3, "cpu-µs/op")
}

// processorTime of this program so far.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
