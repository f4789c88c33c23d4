package sandbox

import (
	"encoding/json"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// spec is what the stages are told, on their first pipe.
type spec struct {
	Full    bool     `json:"full"`
	Probe   bool     `json:"probe"` // try everything, and start nothing
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	Limits  Limits   `json:"limits"`
	UID     int      `json:"uid"`  // that stage 2 runs as, as stage 1 sees it; -1 leaves it
	Root    string   `json:"root"` // where the new file system is mounted, in the init's namespace only
	Work    string   `json:"work"`

	Programs string   `json:"programs"`
	Read     []string `json:"read"`
	Write    []string `json:"write"`
}

// report is what a stage tells: that a step failed, or how the program ended.
type report struct {
	Step   string     `json:"step,omitempty"`
	What   string     `json:"what,omitempty"`
	Errno  unix.Errno `json:"errno,omitempty"`
	Ended  bool       `json:"ended,omitempty"`
	Status int        `json:"status,omitempty"`
	Signal int        `json:"signal,omitempty"`
}

// Descriptors of both stages, beside the program's own three. The program gets
// usageFD as its number 3.
const (
	controlFD = 3
	reportFD  = 4
	usageFD   = 5
)

// The file system that a process sees at level Full.
const (
	workDir     = "/work"
	programsDir = "/programs"
)

// The hidden arguments.
const (
	stageOne = "sandbox:init"
	stageTwo = "sandbox:exec"
)

// Enter is the first thing that main does: in a process that is a stage it does not
// return.
func Enter() {
	if len(os.Args) != 2 {
		return
	}
	switch os.Args[1] {
	case stageOne:
		runInit()
	case stageTwo:
		runExec()
	}
}

// readSpec reads the specification. Nothing inherits descriptors from here on, those
// of the stages or what the node was started with, but what is handed on by name.
func readSpec() (*spec, *os.File) {
	if unix.CloseRange(controlFD, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) != nil {
		for fd := controlFD; fd < 4096; fd++ { // a kernel before 5.11
			unix.CloseOnExec(fd)
		}
	}
	control := os.NewFile(controlFD, "control")
	s := new(spec)
	if err := json.NewDecoder(control).Decode(s); err != nil {
		unix.Exit(1) // the node is gone
	}
	return s, control
}

// tell writes a report, in one piece.
func tell(r report) {
	line, err := json.Marshal(r)
	if err == nil {
		_, _ = unix.Write(reportFD, append(line, '\n'))
	}
}

// fail tells of a step that failed, and ends the stage.
func fail(step string, err error) {
	r := report{Step: step, What: err.Error()}
	if number, ok := errnoOf(err); ok {
		r.Errno = number
	}
	tell(r)
	unix.Exit(1)
}
