package api

import "time"

// NodeState is where a node stands in its lifecycle.
type NodeState struct {
	Node          string    `json:"node"`
	State         string    `json:"state" enum:"Created,Starting,Running,Degraded,Suspended,Backoff,Terminating,Terminated,Crashed"`
	Since         time.Time `json:"since" doc:"when it came to that"`
	Trigger       string    `json:"trigger,omitempty" doc:"what took it there"`
	By            string    `json:"by,omitempty" doc:"who caused it: operator, signal, node, or component:NAME"`
	Cause         string    `json:"cause,omitempty"`
	Healthy       bool      `json:"healthy" doc:"it may be asked: apart from where it stands"`
	Reason        string    `json:"reason,omitempty" doc:"why not healthy"`
	Intake        string    `json:"intake" enum:"open,closed" doc:"whether the node takes commands"`
	Attempt       int       `json:"attempt" doc:"starts that have failed in a row"`
	RetryInMillis int64     `json:"retry_in_ms" doc:"until the next start, in Backoff"`
	Boot          uint64    `json:"boot" doc:"which start of the node's process this is, from 1"`
	Seq           uint64    `json:"seq" doc:"of the newest entry of its journal"`
	UnderWay      UnderWay  `json:"under_way" doc:"what it has begun and not ended"`
	JournalError  string    `json:"journal_error,omitempty" doc:"why its journal, or the snapshot beside it, cannot be written at the moment, which stops no node"`

	Suspension *Suspension     `json:"suspension,omitempty" doc:"why it rests until it is resumed, over restarts too"`
	Components []NodeComponent `json:"components" doc:"its long-lived parts"`
	Before     *NodeBefore     `json:"before,omitempty" doc:"what the process before left; absent when there was none"`
	TLS        *NodeTLS        `json:"tls,omitempty" doc:"what it proves itself with; absent without TLS"`
}

// NodeTLS is what a node proves itself with, and trusts.
type NodeTLS struct {
	Certificates []NodeCertificate `json:"certificates" doc:"its own, then the authorities that it trusts"`
	Since        time.Time         `json:"since" doc:"when it took them up"`
	Refused      string            `json:"refused,omitempty" doc:"why the files that are there now are not in use"`
}

// NodeCertificate is one certificate that a node has in use.
type NodeCertificate struct {
	Role     string    `json:"role" enum:"node,authority"`
	Name     string    `json:"name" doc:"the identity in it, or what an authority calls itself"`
	Serial   string    `json:"serial" doc:"in hex"`
	NotAfter time.Time `json:"not_after" doc:"when it ends"`
}

// UnderWay is what a node has begun and not ended.
type UnderWay struct {
	Commands int `json:"commands" doc:"proposed, and not answered"`
	Calls    int `json:"calls" doc:"of external tools"`
}

// NodeOrder is the body of POST /v1/node/pause and of the others like it.
type NodeOrder struct {
	Reason string `json:"reason,omitempty" doc:"kept in the node's journal"`
	DryRun bool   `json:"dry_run,omitempty" doc:"only say what would come of it, and what would refuse it"`
}

// NodeOrdered is what came of an order, or would.
type NodeOrdered struct {
	Node     string   `json:"node"`
	Order    string   `json:"order" enum:"pause,estop,resume,restart"`
	DryRun   bool     `json:"dry_run,omitempty"`
	State    string   `json:"state" doc:"of the node, now"`
	Leading  bool     `json:"leading" doc:"the node leads: it would hand leadership over, or nobody has taken it yet"`
	Refused  []string `json:"refused,omitempty" doc:"kinds of requests that are refused from then on, with INTAKE_CLOSED"`
	UnderWay UnderWay `json:"under_way" doc:"what is not ended by it, and ends by itself"`

	BusSeq      uint64 `json:"bus_seq,omitempty" doc:"where the order is in the execution log; absent where it is not there"`
	NotOnRecord string `json:"not_on_record,omitempty" doc:"why the order is not in the execution log, or may not be: the node has it in its journal only"`
}

// HeaderNotOnRecord says of a backup why the execution log does not have that it was
// made, or may not have it.
const HeaderNotOnRecord = "Omni-Not-On-Record"

// Suspension is why a node rests until it is resumed.
type Suspension struct {
	Since     time.Time `json:"since"`
	By        string    `json:"by,omitempty"`
	Principal string    `json:"principal,omitempty" doc:"of the operator who ordered it"`
	Reason    string    `json:"reason,omitempty"`
	Estop     bool      `json:"estop,omitempty" doc:"it was an emergency stop"`
}

// NodeComponent is one of a node's long-lived parts.
type NodeComponent struct {
	Name          string    `json:"name"`
	Required      bool      `json:"required" doc:"without it the node does not run"`
	Status        string    `json:"status" enum:"starting,ok,idle,failing,backoff,failed,stopped"`
	LastOK        time.Time `json:"last_ok,omitzero" doc:"when it was seen at work last"`
	LastError     string    `json:"last_error,omitempty"`
	LastErrorAt   time.Time `json:"last_error_at,omitzero"`
	RestartCount  int       `json:"restart_count" doc:"since the process began"`
	RetryInMillis int64     `json:"retry_in_ms" doc:"until it is started again, with status backoff"`
}

// NodeBefore is what the process before left of a node.
type NodeBefore struct {
	Boot    uint64    `json:"boot"`
	State   string    `json:"state" doc:"its last one"`
	Clean   bool      `json:"clean" doc:"it ended in order"`
	Since   time.Time `json:"since" doc:"when it came to its last state"`
	Trigger string    `json:"trigger,omitempty"`
	By      string    `json:"by,omitempty"`
	Cause   string    `json:"cause,omitempty"`
}

// NodeJournal is what is on record of a node's lifecycle, oldest first.
type NodeJournal struct {
	Node    string         `json:"node"`
	Entries []JournalEntry `json:"entries"`
	Damage  []JournalSpot  `json:"damage,omitempty" doc:"places of the journal's files that do not read"`
}

// JournalEntry is one entry: a transition, one that was refused, or what became of
// a component.
type JournalEntry struct {
	Seq       uint64    `json:"seq"`
	Boot      uint64    `json:"boot" doc:"which start of the process"`
	Time      time.Time `json:"time"`
	Kind      string    `json:"kind" enum:"boot,transition,refusal,component,lost"`
	From      string    `json:"from,omitempty"`
	To        string    `json:"to,omitempty"`
	Trigger   string    `json:"trigger,omitempty"`
	By        string    `json:"by,omitempty"`
	Cause     string    `json:"cause,omitempty"`
	Rule      string    `json:"rule,omitempty" doc:"of a refusal: what was against it"`
	Attempt   int       `json:"attempt,omitempty"`
	Component string    `json:"component,omitempty"`
	Status    string    `json:"status,omitempty"`
	Restarts  int       `json:"restarts,omitempty"`
	Hold      string    `json:"hold,omitempty" doc:"set: the node is suspended from here on, over restarts too; cleared: no more"`
	Principal string    `json:"principal,omitempty" doc:"of the operator who ordered it"`
	BusSeq    uint64    `json:"bus_seq,omitempty" doc:"where that order is in the execution log; absent where it is not there"`
}

// JournalSpot is a place in a file that does not read.
type JournalSpot struct {
	File   string `json:"file"`
	Offset int64  `json:"offset"`
	What   string `json:"what"`
}
