package api

// Members are the nodes of a cluster.
type Members struct {
	ClusterID string   `json:"cluster_id"`
	KernelID  string   `json:"kernel_id"`
	Leader    string   `json:"leader" doc:"node id; empty when none is known"`
	Voters    int      `json:"voters" doc:"how many vote"`
	Answering int      `json:"answering" doc:"voters that answer"`
	Spare     int      `json:"spare" doc:"of the voters that answer, so many may fail before nothing can be committed"`
	Members   []Member `json:"members" doc:"in the order in which they became members"`
}

// Member is one of them.
type Member struct {
	ID           string `json:"id"`
	Raft         string `json:"raft" doc:"host:port of its Raft port"`
	API          string `json:"api" doc:"base URL of its HTTP API; empty while it is not known"`
	Role         string `json:"role" enum:"leader,follower,candidate,unreachable,safe_mode"`
	Voter        bool   `json:"voter" doc:"it counts for majorities; otherwise it is a learner"`
	Learner      bool   `json:"learner,omitempty" doc:"it stays a learner until somebody promotes it; absent: it becomes a voter by itself when it has caught up"`
	Behind       uint64 `json:"behind" doc:"events that it has not applied, and another node has"`
	MissingBytes uint64 `json:"missing_bytes" doc:"of history that it has not fetched yet, at most"`
	Healthy      bool   `json:"healthy"`
	Reason       string `json:"reason,omitempty" doc:"why not healthy; or, as the leader tells, why it does not vote yet"`
	Version      string `json:"version"`
}

// AddMemberBody is the body of POST /v1/cluster/members.
type AddMemberBody struct {
	ID      string `json:"id" doc:"of the node, which waits to be taken in"`
	Raft    string `json:"raft" doc:"host:port at which the other nodes reach it"`
	API     string `json:"api,omitempty" doc:"base URL of its HTTP API, unless it says so itself"`
	Learner bool   `json:"learner,omitempty" doc:"it stays a learner; otherwise it becomes a voter when it has caught up"`
}

// RemoveMemberBody is the body of POST /v1/cluster/members/{node}/remove, and demote.
type RemoveMemberBody struct {
	Force bool `json:"force,omitempty" doc:"even if too few of the other voters answer: it may leave a cluster that can do nothing"`
}

// MemberChanged answers a change of the members.
type MemberChanged struct {
	Node    string `json:"node" doc:"whom it is about"`
	Change  string `json:"change" enum:"add,remove,promote,demote"`
	Changed bool   `json:"changed" doc:"false: it was so before"`
	Voters  int    `json:"voters" doc:"how many vote now"`
	BusSeq  uint64 `json:"bus_seq,omitempty" doc:"where the order is in the execution log; absent at kernel version 1"`
}
