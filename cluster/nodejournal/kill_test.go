package nodejournal

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

const (
	writerVariable = "NODEJOURNAL_TEST_DIR"
	lastSynced     = "synced "
)

// The test binary is also the process that is killed while it writes.
func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		writeForEver(dir)
	}
	os.Exit(m.Run())
}

// writeForEver pauses and resumes a node as fast as the disk takes it, and says
// what is on disk.
func writeForEver(dir string) {
	j, past, err := Open(dir)
	if err != nil {
		panic(err)
	}
	r := nodestate.New(nodestate.Options{Policy: nodestate.DefaultPolicy, Before: past.Before, Sink: j})
	r.Transition(nodestate.Start, nodestate.Cause{})
	r.Transition(nodestate.InitOK, nodestate.Cause{})
	for at := time.Now(); time.Since(at) < time.Minute; {
		for _, trigger := range []nodestate.Trigger{nodestate.Pause, nodestate.Resume, nodestate.Resume} {
			r.Transition(trigger, nodestate.Cause{By: "operator", Text: strings.Repeat("why ", 100)})
			seq, state := r.Snapshot().Seq, r.State()
			if j.Sync(context.Background()) == nil {
				fmt.Println(lastSynced + strconv.FormatUint(seq, 10) + " " + string(state))
			}
		}
	}
}

// NO-3: whatever a process said was on disk is there after kill -9 at any
// moment, in order and without a gap, and the next one knows how it stood.
func TestKilledWriter(t *testing.T) {
	dir := t.TempDir()
	torn := 0
	for round := range 12 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerVariable+"="+dir)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		said := 0
		var seq uint64
		var state nodestate.State
		for lines.Scan() {
			var now string
			_, err := fmt.Sscanf(lines.Text(), lastSynced+"%d %s", &seq, &now)
			require.NoError(t, err, lines.Text())
			state = nodestate.State(now)
			if said++; said == 5+7*round {
				require.NoError(t, cmd.Process.Kill())
			}
		}
		require.Error(t, cmd.Wait())
		require.GreaterOrEqual(t, said, 5+7*round)

		j, past, err := Open(dir)
		require.NoError(t, err)
		require.NoError(t, j.Close())
		require.GreaterOrEqual(t, past.Before.Seq, seq)
		require.Equal(t, uint64(round+1), past.Before.Boot)
		require.Equal(t, past.Before.State == nodestate.Suspended, past.Before.Suspension != nil)
		if past.Before.Seq == seq {
			require.Equal(t, state, past.Before.State)
		}
		torn += len(past.Damage)
		found, err := Read(dir)
		require.NoError(t, err)
		require.Empty(t, found.Damage)
		for i, e := range found.Entries {
			require.Equal(t, uint64(i+1), e.Seq)
		}
	}
	t.Logf("%d of 12 left a torn line", torn)
}
