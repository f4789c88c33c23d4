package api

// NodeStatus is one node's account of itself, or the asker's of a node that
// does not answer.
type NodeStatus struct {
	ID           string `json:"id"`
	API          string `json:"api" doc:"base URL of its HTTP API"`
	Raft         string `json:"raft" doc:"host:port of its Raft port"`
	Role         string `json:"role" enum:"leader,follower,candidate,unreachable,safe_mode"`
	Term         uint64 `json:"term"`
	AppliedIndex uint64 `json:"applied_index" doc:"of the last event in its state"`
	CommitIndex  uint64 `json:"commit_index"`
	BusSeq       uint64 `json:"bus_seq"`
	Digest       string `json:"digest" doc:"hex chain value at applied_index: equal index means equal digest"`
	LagMillis    int64  `json:"lag_ms"`
	Agents       uint32 `json:"agents"`
	Healthy      bool   `json:"healthy"`
	Reason       string `json:"reason,omitempty" doc:"why not healthy"`
	UptimeMillis int64  `json:"uptime_ms"`
	Version      string `json:"version"`

	SafeMode *SafeMode `json:"safe_mode,omitempty" doc:"the event that holds it in safe mode"`

	HistoryFrom uint64    `json:"history_from" doc:"busSeq from which on its log can be read without a gap; 0 while it is not known"`
	Backfill    *Backfill `json:"backfill,omitempty" doc:"history that it still fetches from other nodes; absent when its history is complete"`

	Backups *Backups `json:"backups,omitempty" doc:"backups that it makes by itself; absent when it makes none"`

	Stopped *Stop `json:"stopped,omitempty" doc:"the emergency stop that holds the cluster, as of applied_index; absent while the kernel runs"`

	State string `json:"state,omitempty" enum:"Created,Starting,Running,Degraded,Suspended,Backoff,Terminating,Terminated,Crashed" doc:"where it stands in its lifecycle, apart from its health; absent when it does not answer"`

	KernelVersion uint32 `json:"kernel_version,omitempty" doc:"that holds as of applied_index; absent when it does not say"`
	KnowsVersion  uint32 `json:"knows_version,omitempty" doc:"the newest kernel version that it may be taken to, by its binary or by --max-kernel-version; absent of a binary that knows version 1 only, or when it does not answer"`
}

// Stop is the emergency stop that holds the whole cluster: no tick runs and
// no call is dispatched until somebody resumes it.
type Stop struct {
	SinceMillis int64  `json:"since_ms" doc:"kernel clock when it was ordered, Unix milliseconds"`
	By          string `json:"by" doc:"principal of who ordered it"`
	Reason      string `json:"reason"`
	BusSeq      uint64 `json:"bus_seq" doc:"of its record"`
}

// Backups tells how the backups stand that a node makes by the clock.
type Backups struct {
	Dir           string `json:"dir" doc:"where they are"`
	File          string `json:"file,omitempty" doc:"the newest one; absent when there is none"`
	Index         uint64 `json:"index,omitempty" doc:"Raft index of the last event in it"`
	AtMillis      int64  `json:"at_ms,omitempty" doc:"when it was made, Unix milliseconds"`
	Bytes         int64  `json:"bytes,omitempty" doc:"of it"`
	CurrentMillis int64  `json:"current_ms,omitempty" doc:"when it was last known to hold everything that the node had, Unix milliseconds"`
	NextMillis    int64  `json:"next_ms,omitempty" doc:"when the next one is due, Unix milliseconds"`
	Error         string `json:"error,omitempty" doc:"why the last attempt failed; absent when it did not"`
	FailedMillis  int64  `json:"failed_ms,omitempty" doc:"when one failed last, Unix milliseconds"`
	Failures      uint64 `json:"failures_in_a_row,omitempty" doc:"since one was made"`
}

// Backfill is history that a node does not have yet.
type Backfill struct {
	MissingBytes uint64 `json:"missing_bytes" doc:"at most"`
	FetchedBytes uint64 `json:"fetched_bytes" doc:"since the node started"`
	From         string `json:"from,omitempty" doc:"id of the node that gives it"`
	Reason       string `json:"reason,omitempty" doc:"why no node gives it at the moment"`
	DamagedFiles int    `json:"damaged_files,omitempty" doc:"segments of its own that were found damaged and are fetched again"`
}

// SafeMode is the event that holds a node: applying it ended the process, over
// and over.
type SafeMode struct {
	Index   uint64 `json:"index" doc:"Raft index of the event"`
	Digest  string `json:"digest" doc:"hex SHA-256 of its log entry"`
	Kind    string `json:"kind" doc:"what the event asks for; empty when it is not known"`
	Crashes int    `json:"crashes" doc:"how often the process ended"`
	Hint    string `json:"hint" doc:"what an operator can do"`
}

// Status of the cluster as one node sees it.
type Status struct {
	ClusterID string       `json:"cluster_id"`
	KernelID  string       `json:"kernel_id"`
	Leader    string       `json:"leader" doc:"node id; empty when none is known"`
	Term      uint64       `json:"term"`
	Nodes     []NodeStatus `json:"nodes"`

	Stopped *Stop `json:"stopped,omitempty" doc:"the emergency stop that holds, as the node knows that has applied most; absent while the kernel runs"`

	KernelVersion uint32 `json:"kernel_version,omitempty" doc:"version of the kernel's behaviour: what every node knows; absent while it is not known"`

	NearLimits []Limit `json:"near_limits,omitempty" doc:"limits of the cluster as a whole of which 80 % or more are used, in the asked node's state; absent when there are none"`
}

// Limit is how much there is of what the cluster's configuration bounds.
type Limit struct {
	Limit string `json:"limit" doc:"its name in the cluster's configuration, such as max_agents"`
	Used  uint64 `json:"used"`
	Most  uint64 `json:"most" doc:"more is refused"`
}

// TransferBody is the body of POST /v1/cluster/transfer.
type TransferBody struct {
	To string `json:"to,omitempty" doc:"id of the node that shall lead; the best follower when empty"`
}

// Transferred answers a transfer of leadership.
type Transferred struct {
	Leader string `json:"leader" doc:"who leads now, as far as the answering node knows"`
	Node   string `json:"node"`
	BusSeq uint64 `json:"bus_seq,omitempty" doc:"where the order is in the execution log; absent at kernel version 1, and when that node led already"`
}

// Health is the body of /healthz and /readyz.
type Health struct {
	Status string `json:"status" enum:"ok,unhealthy,not_ready"`
	Reason string `json:"reason,omitempty"`
	Node   string `json:"node"`

	State        string `json:"state" enum:"Created,Starting,Running,Degraded,Suspended,Backoff,Terminating,Terminated,Crashed" doc:"where the node stands in its lifecycle, apart from its health"`
	Cause        string `json:"cause,omitempty" doc:"why it stands there"`
	JournalError string `json:"journal_error,omitempty" doc:"why the node's journal, or the snapshot beside it, cannot be written at the moment, which is no reason to call it unhealthy"`

	SafeMode *SafeMode `json:"safe_mode,omitempty" doc:"the event that holds the node in safe mode"`
	Backups  *Backups  `json:"backups,omitempty" doc:"backups that it makes by itself, whose failure is no reason to call it unhealthy"`

	Stopped *Stop `json:"stopped,omitempty" doc:"the emergency stop that holds the cluster, which is no reason to call the node unready; of /readyz"`
}
