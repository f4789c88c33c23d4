package logsink_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/logsink"
)

// Everything comes out, in order.
func TestLinesComeInOrder(t *testing.T) {
	var out bytes.Buffer
	s := logsink.New(&out)
	var want strings.Builder
	for i := range 1000 {
		fmt.Fprintf(io.MultiWriter(s, &want), "line %d\n", i)
	}
	s.Close(t.Context())
	require.Equal(t, want.String(), out.String())
}

// A reader that has stopped stops nobody; how long is known, and so is what was
// dropped once it reads on.
func TestReaderThatHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		s := logsink.New(writer)
		require.Zero(t, s.Blocked())
		line := []byte(strings.Repeat("x", 1023) + "\n")
		_, err := s.Write(line)
		require.NoError(t, err)
		synctest.Wait()
		for range 2000 {
			n, err := s.Write(line)
			require.Equal(t, len(line), n)
			require.NoError(t, err)
		}
		time.Sleep(7 * time.Second)
		require.Equal(t, 7*time.Second, s.Blocked())
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		s.Close(brief)

		read := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(reader)
			read <- all
		}()
		synctest.Wait()
		require.Zero(t, s.Blocked())
		require.NoError(t, writer.Close())
		all := <-read
		require.Equal(t, 1+1024, bytes.Count(all, []byte{'\n'}))
	})
}

// What was dropped is counted where it would have stood.
func TestDroppedLinesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader, writer := io.Pipe()
		s := logsink.New(writer)
		write := func(text string) { _, _ = io.WriteString(s, text) }
		write("first\n")
		synctest.Wait()
		for range 3 {
			write(strings.Repeat("x", 600<<10) + "\n")
		}
		read := make(chan []byte)
		go func() {
			all, _ := io.ReadAll(reader)
			read <- all
		}()
		synctest.Wait()
		write("last\n")
		s.Close(t.Context())
		require.NoError(t, writer.Close())
		require.True(t, strings.HasSuffix(string(<-read), "x\n2 log lines were dropped: nobody read this output\nlast\n"))
	})
}
