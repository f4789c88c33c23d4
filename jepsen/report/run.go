package report

import (
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// Format is the form of a folder that this program writes. It reads this one and
// older ones.
const Format = 1

// Run says what was run. It is run.json.
type Run struct {
	Format   int             `json:"format"`   // set by Create
	Name     string          `json:"name"`     // of the scenario
	Scenario json.RawMessage `json:"scenario"` // all of it, as data
	Seed     uint64          `json:"seed"`
	Nodes    []string        `json:"nodes"`
	Store    string          `json:"store,omitempty"` // of the Raft log
	Flags    []string        `json:"flags,omitempty"` // of every node
	Versions Versions        `json:"versions"`
	Began    time.Time       `json:"began"`
	Took     time.Duration   `json:"took_ns,omitempty"` // set by Finish; 0 of a run that was interrupted
	Again    string          `json:"again,omitempty"`   // the command that runs it again
}

// Versions says which programs took part.
type Versions struct {
	Omni     json.RawMessage `json:"omni,omitempty"` // what `omni version -o json` prints
	Go       string          `json:"go,omitempty"`
	Kernel   string          `json:"kernel,omitempty"`   // of the machine, as `uname -r` prints it
	Revision string          `json:"revision,omitempty"` // of the source of the fault tests, with "+" when it was changed
}

// Here is the versions of this program and this machine; Omni is the caller's to
// fill in.
func Here() Versions {
	v := Versions{Go: runtime.Version()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		v.Kernel = strings.TrimSpace(string(release))
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	changed := false
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			v.Revision = setting.Value
		case "vcs.modified":
			changed = setting.Value == "true"
		}
	}
	if changed && v.Revision != "" {
		v.Revision += "+"
	}
	return v
}
