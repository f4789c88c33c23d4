package scenarios

import "time"

// Scenario is one fault test.
type Scenario struct {
	Name      string         `yaml:"name" json:"name"`
	About     string         `yaml:"about" json:"about"`           // one sentence: what it is after
	Smoke     bool           `yaml:"smoke" json:"smoke,omitempty"` // part of the quick run
	Nodes     int            `yaml:"nodes" json:"nodes"`           // 3 or 5
	Store     string         `yaml:"store" json:"store"`           // of the Raft log: bolt or wal
	Disks     string         `yaml:"disks" json:"disks,omitempty"`
	Flags     []string       `yaml:"flags" json:"flags,omitempty"`          // more of every node's
	Workloads map[string]int `yaml:"workloads" json:"workloads"`            // how many workers each
	Rate      int            `yaml:"rate" json:"rate"`                      // operations a second, all together
	Calm      time.Duration  `yaml:"calm" json:"calm_ns"`                   // traffic before the first fault
	Faults    time.Duration  `yaml:"faults" json:"faults_ns,omitempty"`     // how long the mix lasts
	Settle    time.Duration  `yaml:"settle" json:"settle_ns"`               // traffic after the last fault
	Mix       []Fault        `yaml:"mix" json:"mix,omitempty"`              // exploratory: what is drawn from
	Between   Span           `yaml:"between" json:"between_ns"`             // from the heal of one to the next
	AtOnce    int            `yaml:"at_once" json:"at_once,omitempty"`      // faults at the same time; 1
	Steps     []Step         `yaml:"steps" json:"steps,omitempty"`          // regression: what is done, in order
	Allowed   []string       `yaml:"allowed" json:"allowed_ends,omitempty"` // kinds of faults that may end a process
}

// Exploratory tells whether faults are drawn.
func (s *Scenario) Exploratory() bool { return len(s.Mix) > 0 }

// The disks of nodes.
const (
	Plain  = ""       // a directory
	Image  = "image"  // a file system of its own, whose power can be cut, and which can be full
	Faulty = "faulty" // a file system whose fsyncs and writes can fail
)

// Fault is one that may be injected. Which of the parameters a kind takes, and what
// they mean, package nemesis says.
type Fault struct {
	Kind   string `yaml:"kind" json:"kind"`
	Nodes  string `yaml:"nodes" json:"nodes,omitempty"` // leader, follower, one, minority, majority, all, or ids with commas
	For    Span   `yaml:"for" json:"for_ns"`            // how long it stays
	Weight int    `yaml:"weight" json:"weight,omitempty"`

	Shape   string        `yaml:"shape" json:"shape,omitempty"`
	Percent int           `yaml:"percent" json:"percent,omitempty"`
	By      time.Duration `yaml:"by" json:"by_ns,omitempty"`
	Bytes   int64         `yaml:"bytes" json:"bytes,omitempty"`
	File    string        `yaml:"file" json:"file,omitempty"`
	Way     string        `yaml:"way" json:"way,omitempty"`
}

// Step is one step of a regression scenario: one of its fields is set.
type Step struct {
	Inject *Fault        `yaml:"inject" json:"inject,omitempty"`
	As     string        `yaml:"as" json:"as,omitempty"`     // with inject: the name to heal it by
	Heal   string        `yaml:"heal" json:"heal,omitempty"` // what was injected as …; "all" for everything
	Wait   time.Duration `yaml:"wait" json:"wait_ns,omitempty"`
	Write  int           `yaml:"write" json:"write,omitempty"` // wait until so many more operations are acknowledged
	Lead   bool          `yaml:"lead" json:"lead,omitempty"`   // wait until a node leads that is not cut off, stopped or paused
}

// Span is a duration that is drawn between two, both included. In YAML "2s" or
// "1s-6s".
type Span struct {
	Min time.Duration `json:"min"`
	Max time.Duration `json:"max"`
}

// Regression and exploratory, as a list says them.
func (s *Scenario) Kind() string {
	if s.Exploratory() {
		return "exploratory"
	}
	return "regression"
}
