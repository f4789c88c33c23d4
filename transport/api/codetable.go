package api

// definite and unknown make rows of the table.
func definite(code string, status int, text string) CodeInfo {
	return CodeInfo{Code: code, Definite: true, Status: status, Exit: ExitRefused, Text: text}
}

func later(code string, status int, text string) CodeInfo {
	return CodeInfo{Code: code, Definite: true, Status: status, Exit: ExitRefused, Retry: true, Text: text}
}

func unknown(code string, status int, text string) CodeInfo {
	return CodeInfo{Code: code, Status: status, Exit: ExitUnknown, Retry: true, Text: text}
}

// codes is the table (CL-2), in order of the codes. Three kinds of rows: a
// definite refusal; a definite one that another try, later or at another node,
// may overcome; and an unknown outcome.
var codes = [...]CodeInfo{
	definite("ADDRESS_IN_USE", 409, "Another member of the cluster has the Raft address. Give the new node another one."),
	definite("ALREADY_ACKNOWLEDGED", 409, "The client's floor says that it no longer wants the answer to this sequence, so the answer is forgotten. Whether the command took effect was told the first time; this attempt had no effect."),
	definite("ALREADY_BOOTED", 409, "The cluster has its configuration; its first event fixed it for ever."),
	definite("ALREADY_EXISTS", 409, "An agent with this id exists. Leave the id empty to have one made, or use another."),
	definite("COMPACTED", 410, "The log below the position named in first was archived. A watch goes on from first; what was archived can be read page by page on a node that has the archive."),
	definite("CROSS_ORIGIN", 403, "A web browser sent this on behalf of a page from elsewhere. The API takes commands from programs and from its own origin only."),
	definite("EMPTY", 422, "The command had no bytes: nothing was proposed."),
	definite("FORBIDDEN", 403, "No role of the caller's principal lets it do that, or one denies it: the message names the principal, the action and the resource, in the words of roles' grants."),
	later("HISTORY_BEHIND", 503, "This node does not have the log below the position named in first (yet): it started from a snapshot, or a part of it was damaged. Another node may have it."),
	definite("ID_USED", 409, "The node is not empty, or its id was a removed member's: an id and a data directory never come back. Start it with an empty directory, under a new id."),
	later("INTAKE_CLOSED", 503, "This node takes no commands: it is suspended or stopping. Others may."),
	definite("INTERNAL", 500, "The node met something that should not be, such as a damaged block of its log. Nothing took effect; the node's own log tells more."),
	definite("INVALID_ARGUMENT", 422, "A field, a parameter or a header breaks the rule that the answer names."),
	definite("INVALID_PROGRAM", 422, "The program does not compile: field leads to the instruction or expression, rule says what is wrong with it."),
	definite("INVALID_RUN_TRANSITION", 409, "A run in its state has no such transition. The attempt is in the log."),
	definite("INVALID_STATE", 409, "The agent is in a state in which this cannot be done."),
	definite("INVALID_TRANSITION", 409, "No row of the lifecycle table lets this caller cause this trigger in the agent's state, or in the node's; the message names the rule. The attempt is on record: in the log, or in the node's journal."),
	definite("INVALID_VALUE", 422, "A value is not one of the JSON data model: a repeated key, invalid UTF-8, an integer beyond 2^53, nesting beyond 64, or more bytes than the kernel's max_value_bytes."),
	definite("KERNEL_SUSPENDED", 409, "The whole cluster is stopped by its operators: nothing that starts or advances work is taken until they resume it. Commands that end or limit are. The cluster's status tells since when and why."),
	definite("LAST_VOTER", 409, "It is the only node that votes: without it there is no cluster. Add another one first."),
	unknown("LEADERSHIP_LOST", 504, "The node lost its leadership while the command was in flight: the next leader may commit it or drop it. With a session or an idempotency key, send it again; without, look before you do."),
	definite("LEASE_LOST", 409, "The worker's lease is over: it ran out, or the call was given to another worker. The result was not taken; the call goes on without this worker."),
	definite("LIMIT_REACHED", 429, "A limit that the cluster's configuration fixes is reached, such as max_agents or max_interned_bytes."),
	definite("LOG_LIMIT_EXCEEDED", 429, "The agent's part of the log is as large as the cluster's log_error_bytes allows. It takes no instructions and no messages any more, and its ticks fail: end it, and start another one."),
	definite("MAJORITY_AT_RISK", 409, "Of the voters that would be left, too few answer: the cluster could commit nothing. Bring the others back, or remove first those that are gone for good."),
	definite("MALFORMED_JSON", 400, "The body is not JSON; rule names the line and the column."),
	definite("MEMBER_EXISTS", 409, "A member with this id is at another address. Give the new node another id, or remove that one first."),
	definite("MEMBER_UNREACHABLE", 409, "The node that it is about does not answer at its Raft address, as a node of this cluster must. Start it first."),
	definite("MEMORY_FULL", 429, "Shared memory has as many keys, or is as large, as the cluster's configuration allows. Delete some, or write smaller values."),
	definite("METHOD_NOT_ALLOWED", 405, "The address exists, but not for this method."),
	later("NEWER_TERM", 503, "Another node leads, or stands for election. Ask again."),
	later("NOT_BOOTED", 503, "The cluster has no configuration yet: its first leader is about to propose it. Ask again."),
	later("NOT_CAUGHT_UP", 503, "This node has not applied the index, or is not within the lag, that was asked for; or it has not caught up since it started. Another node may have, or this one soon."),
	later("NOT_COVERED", 503, "The record is younger than the newest Checkpoint, whose root proofs lead to. Ask again: one comes within seconds."),
	definite("NOT_FOUND", 404, "There is no such agent, key, token or open request, or nothing at this address: field says which. index tells as of when."),
	later("NOT_LEADER", 421, "This node does not lead, and commands go to the leader: its id and its address stand in leader, when they are known."),
	later("NOT_READY", 503, "The leader is new and has not applied its first event. Ask again."),
	definite("NOT_RECOVERABLE", 409, "Only a TRANSIENT fault can be recovered. Reclassify a PERMANENT one when its cause has gone, or end the agent with abandon."),
	definite("NO_INSTRUCTION", 409, "The agent has no program for this, or a task agent has nothing to run. Submit an instruction first."),
	later("NO_LEADER", 503, "No leader is known at the moment: an election is going on, or a majority of the nodes cannot be reached. Ask again."),
	later("NO_QUORUM", 503, "The leader could not confirm with a majority that it leads. Ask again."),
	definite("QUARANTINED", 409, "Operators keep this event from running: it ended the process too often."),
	later("QUEUE_FULL", 429, "Too much is waiting. Without an index, the node had no room to propose the command: send it again later. With an index, the kernel refused it: the agent's instruction queue, its mailbox, or the global queue, is full."),
	later("RATE_LIMITED", 429, "The caller asks for more than its rate, and the node holds callers to it. Nothing was done: send it again later, and less often."),
	later("REPLAY_DIVERGENCE", 503, "This node's log differs from the majority's: it answers nothing until it is seeded again. Ask another."),
	later("SAFE_MODE", 503, "This node takes no part until an operator acts: applying one event ended its process three times. The status and /healthz say which event, and what to do. Ask another node."),
	definite("SEQUENCE_OUT_OF_WINDOW", 409, "A session holds 256 sequences above its floor. Wait for older answers, and raise the floor."),
	definite("SEQUENCE_REUSED", 409, "This sequence, or this idempotency key, was used before for another command."),
	later("SESSIONS_FULL", 429, "The cluster remembers as many sessions, or as many idempotency keys, as it may. Try again later."),
	definite("SESSION_EXPIRED", 410, "The session is not known and too old to be opened. This attempt had no effect; whether an earlier attempt of the same command had one can be read from the log. Open a new session for new commands."),
	unknown("SHUTDOWN", 504, "The node stopped while the command was in flight. If the answer says definite, it was still waiting to be proposed."),
	later("SLOW_CONSUMER", 408, "The reader of a stream was too slow to take what it was sent. Go on from the last id."),
	definite("STALE_RESULT", 409, "The call is not pending, or the request does not wait for a decision: it was resolved, decided, withdrawn, or its time is over."),
	unknown("STORE_FAILED", 504, "The node could not write its log: the entry may be on disk all the same."),
	unknown("TIMEOUT", 504, "The command was proposed and no outcome came in time. If the answer says definite, it was still waiting to be proposed, or it was a read."),
	definite("TLS_REQUIRED", 400, "This address speaks TLS, and the request came without: nothing of it was read."),
	definite("TOKEN_EXPIRED", 409, "The agent's token is not in force any more: its time is over."),
	definite("TOKEN_REVOKED", 409, "The agent's token is not in force any more: it was revoked before."),
	definite("TOO_LARGE", 413, "The body, or the command in it, is larger than its limit."),
	later("TOO_MANY_CONNECTIONS", 503, "The node has as many connections as it takes."),
	later("TOO_MANY_REQUESTS", 429, "The node works on as many requests as it takes."),
	later("TOO_MANY_STREAMS", 429, "The node serves as many streams as it takes."),
	later("TRANSFERRING", 503, "Leadership is being handed over. Ask again."),
	definite("UNAUTHENTICATED", 401, "This cluster judges who asks, and the request has no credential, or none that is in force: unknown, expired, revoked, or of a principal that is disabled or gone."),
	definite("UNKNOWN_MEMBER", 404, "The cluster has no member with this id. The hint names those that it has."),
	later("UNREACHABLE", 503, "The leader could not be asked. Ask again, or another node."),
	definite("UNSUPPORTED_MEDIA_TYPE", 415, "The body must be application/json, in UTF-8."),
	definite("VERSION_CONFLICT", 409, "The key does not have the version that the command expects: rule names the one that it has, 0 for a key that does not exist. Read it again, and decide anew."),
	definite("VERSION_TOO_LOW", 409, "The command came with a later kernel version than the one that the cluster is at, because some node runs an older binary, or is told to hold the version. omni cluster status shows which. A node of too old a binary is refused in a cluster that is further with this code, too."),
	definite("WRONG_HOST", 403, "The request calls the node by a name that is not its own, as a web page does whose name was made to lead here."),
}
