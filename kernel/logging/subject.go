package logging

// firstRun is above every agent's number: what a touched list names from there on
// are runs.
const firstRun uint32 = 1 << 31

// MaxAgent is the highest number that an agent can have in the log.
const MaxAgent = firstRun - 1

// RunSubject is what stands in a block's touched list for a run: the number of its
// root agent with the high bit set, so that runs come after all agents (RU-4). It
// is an agent's number wherever the list, an index or a reader asks for one.
func RunSubject(run uint32) (subject uint32) { return run | firstRun }

// RunOf tells which run a subject is; false when it is an agent.
func RunOf(subject uint32) (run uint32, ok bool) { return subject &^ firstRun, subject >= firstRun }
