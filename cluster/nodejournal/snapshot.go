package nodejournal

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/omnikernel/omnikernel/cluster/datadir"
	"github.com/omnikernel/omnikernel/cluster/nodestate"
)

const (
	stateFile     = "node-state.json"
	stateFormat   = 0
	maxStateBytes = 64 << 10
)

// stored is the content of node-state.json: one line, with a checksum as the
// journal's have.
type stored struct {
	Format int `json:"format"`
	nodestate.Memory
}

// ErrNewer says that the files were written by a newer version.
var ErrNewer = errors.New("node journal: written by a newer version")

func writeState(dir string, m *nodestate.Memory) error {
	raw, err := json.Marshal(stored{stateFormat, *m})
	if err != nil {
		return fmt.Errorf("node journal: encode the snapshot: %w", err)
	}
	return datadir.WriteFile(filepath.Join(dir, stateFile), seal(nil, raw))
}

// readState gives nil when there is no snapshot, and Damage when it does not
// read.
func readState(dir string) (*nodestate.Memory, *Damage, error) {
	content, err := readBounded(filepath.Join(dir, stateFile), maxStateBytes)
	if errors.Is(err, errFileLong) {
		return nil, &Damage{stateFile, 0, "the snapshot does not read: " + errFileLong.Error()}, nil
	}
	if err != nil || content == nil {
		return nil, nil, err
	}
	var s stored
	raw, err := unseal(content)
	if err == nil {
		err = json.Unmarshal(raw, &s)
	}
	switch {
	case err != nil:
		return nil, &Damage{stateFile, 0, "the snapshot does not read: " + err.Error()}, nil
	case s.Format > stateFormat:
		return nil, nil, fmt.Errorf("%w: %s has format %d", ErrNewer, filepath.Join(dir, stateFile), s.Format)
	}
	return &s.Memory, nil, nil
}
