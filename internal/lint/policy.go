package lint

// layers says which way imports point: a package may import its own layer and
// those of lower numbers (docs/architecture.md).
var layers = map[string]int{"kernel": 0, "fsm": 1, "cluster": 2, "transport": 3, "cmd": 4}

// otherTops are the top-level directories that hold Go code beside the layers.
// The top level is fixed: anything else needs a reason in
// docs/architecture.md first.
var otherTops = map[string]bool{"internal": true, "jepsen": true, "examples": true, "deploy": true}

// vocabulary are the kernel's leaf packages, which every module may use. They
// use each other and nothing else of the kernel.
var vocabulary = map[string]bool{
	"bus": true, "config": true, "event": true, "failure": true, "table": true, "value": true,
}

// composers are the kernel packages that are allowed to see several modules.
var composers = map[string]string{
	".":          "the root applies events: it routes them to flows and modules",
	"flows":      "a flow is one story over several modules",
	"invariants": "a rule of the kernel reads whatever it is about, and changes nothing",
	"state":      "an agent's row has one field for each module",
	"kerneltest": "test support drives the kernel as a whole",
	"authority":  "who held what is read from the records of several modules",
	"backtest":   "a what-if judges what several modules recorded",
	"logaudit":   "an audit reads the records of every module",
	"replay":     "a log's second reader runs its ticks again",
}

// drivers are the kernel packages that use the root.
var drivers = map[string]string{
	"kerneltest": "replicas over one log, for tests",
	"replay":     "it holds the kernel to its own log",
}

// witnesses read what the kernel wrote and say whether it is right. They do not
// see what decides and what applies: a second opinion is not the first one asked
// again.
var witnesses = map[string]string{
	"authority": "tells from records what the kernel's tables should say",
	"backtest":  "judges what was recorded, and runs nothing",
	"logaudit":  "judges the log by the log alone",
}

// notForWitnesses are the packages that decide, apply as a whole, or check while
// the kernel does.
var notForWitnesses = map[string]bool{".": true, "flows": true, "state": true, "invariants": true}

// kernelExceptions are the imports between kernel packages that the rules
// above forbid and that have a reason.
var kernelExceptions = map[[2]string]string{
	{"event", "permissions"}:      "a command carries grants in the form that the gate compiles",
	{"event", "tools"}:            "a registration carries the manifest in the form that the gate judges by",
	{"principals", "permissions"}: "a role's grants are judged by the gate's engine: there is one",
	{"config", "logging"}:         "the replicated segment size is bounded by the block format",
}

// testExceptions are the imports against the layers that tests need: tests run
// over the real thing, which the product is handed by cmd.
var testExceptions = map[[2]string]string{
	{"cluster", "transport/raftstream"}: "several nodes in one process talk over the transport that they have in production",
}

// apiTypes is what transport/client and the fault tests may see of the tree
// beside themselves: the types of commands and answers, and nothing that runs.
var apiTypes = []string{
	"kernel/config", "kernel/event", "kernel/failure", "kernel/permissions", "kernel/value",
	"transport/api", "transport/client",
}

// simulated is what the simulations drive themselves, beside the API types: they
// hold the parts in their hands, the log, the disks, the network and the clock
// among them, where the other fault tests see processes from outside.
var simulated = map[string][]string{
	"jepsen/sim/kernels": {"kernel", "fsm"},
	"jepsen/sim/nodes":   {"kernel", "fsm", "cluster"},
}

// unsupervised are the files and directories of a node's code that may start goroutines
// of their own, whose panic is no component's (NO-1).
var unsupervised = map[string]string{
	"cluster/consensus":                   "it is Raft, whose panic ends the process: half a consensus must not go on",
	"cluster/raftstore":                   "its watchdog is Raft's, and reports a disk that hangs",
	"cluster/supervise":                   "it is what supervises",
	"cluster/nodejournal":                 "it writes the journal that a panic is on record in, before and after there are components",
	"cluster/logsink":                     "it writes the log that a panic is told in",
	"cluster/tools":                       "it recovers from what an adapter panics with, and answers that to the program (TO-6)",
	"cluster/tools/mcpclient":             "it waits for programs and connections, and runs nothing that is handed to it",
	"cluster/tools/sandbox/init_linux.go": "it is a process of its own, which may end",
	"cluster/commit_planted.go":           "it is wrong on purpose",
	"transport/raftstream":                "its streams are Raft's; what a node answers on them recovers by itself",
	"transport/httpapi/solo":              "it is a support of tests",
	"cmd/omni/collector.go":               "it paces the runtime, with nothing of a node in its hands",
	"cmd/omni/profile.go":                 "it serves the runtime's own pages, which recover by themselves",
}

// kernelLibraries are the packages outside this module that the kernel may
// import. What is not listed is forbidden: no clock, no randomness, no I/O, no
// goroutine may come in by a new name.
var kernelLibraries = map[string]bool{
	"bytes": true, "cmp": true, "crypto/sha1": true, "crypto/sha256": true, "encoding/binary": true, "encoding/hex": true, "errors": true,
	"fmt": true, "hash/crc32": true, "iter": true, "maps": true, "math": true, "math/big": true, "math/bits": true,
	"reflect": true, "slices": true, "sort": true, "strconv": true, "strings": true, "unicode/utf16": true,
	"unicode/utf8": true,

	"github.com/fxamacker/cbor/v2":   true,
	"github.com/google/uuid":         true,
	"go.starlark.net/resolve":        true,
	"go.starlark.net/starlark":       true,
	"go.starlark.net/starlarkstruct": true,
	"go.starlark.net/syntax":         true,
}

// kernelOnly narrows a library to the names that are pure.
var kernelOnly = map[string]map[string]bool{
	"github.com/google/uuid": {
		"UUID": true, "Nil": true, "NewSHA1": true, "Parse": true, "ParseBytes": true, "FromBytes": true,
		"NameSpaceDNS": true, "NameSpaceURL": true, "NameSpaceOID": true,
	},
}

// unorderedCalls give their results in an order that differs between replicas.
var unorderedCalls = map[string]bool{
	"maps.Keys": true, "maps.Values": true, "maps.All": true,
	"reflect.Value.MapKeys": true, "reflect.Value.MapRange": true, "reflect.Value.Seq": true, "reflect.Value.Seq2": true,
}

// floatPackages compute numbers of programs, under their own rules (EX-11).
var floatPackages = []string{"kernel/evaluator", "kernel/value"}

// impurePackages lie under kernel/ and are linked into no replica.
var impurePackages = map[string]string{
	"kernel/kerneltest": "imported by tests only",
}

// Sizes past which a file or a function wants a reason.
const (
	maxFileLines     = 500
	maxFunctionLines = 70
)
