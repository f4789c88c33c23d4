package api

// LogSegments is a part of the manifest of the execution log's sealed segments,
// in order, as the answering node's state has it. Next is the From of the next
// page; absent on the last one.
type LogSegments struct {
	Segments []LogSegment `json:"segments"`
	Tail     LogTail      `json:"tail" doc:"the segment that is still written"`
	Next     uint64       `json:"next,omitempty"`
	As
}

// LogSegment is one sealed segment. Its chain values authenticate its content.
type LogSegment struct {
	FirstSeq   uint64 `json:"first_bus_seq"`
	LastSeq    uint64 `json:"last_bus_seq"`
	FirstIndex uint64 `json:"first_index" doc:"Raft index of its first block"`
	LastIndex  uint64 `json:"last_index"`
	Start      uint64 `json:"start" doc:"position of its first block"`
	Bytes      uint64 `json:"bytes" doc:"of its blocks"`
	ChainIn    string `json:"chain_in" doc:"hex chain value before it"`
	ChainOut   string `json:"chain_out" doc:"hex chain value after it"`
	ArchivedAt uint64 `json:"archived_at,omitempty" doc:"Raft index of the event that archived what no living agent needs of it"`
}

// LogTail is where the tail begins.
type LogTail struct {
	FirstSeq uint64 `json:"first_bus_seq"`
	Start    uint64 `json:"start"`
	ChainIn  string `json:"chain_in"`
}
