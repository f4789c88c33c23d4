package program

import (
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// config is what a manifest of kind exec says, read.
type config struct {
	program string
	args    []string
	env     []variable
	limits  sandbox.Limits
	network bool
}

type variable struct{ name, text string }

const (
	maxArgs      = 64
	maxVariables = 64
	maxTextBytes = 4096
)

// What a manifest need not say, and the most that it may.
var (
	defaultLimits = sandbox.Limits{CPUSeconds: 30, MemoryBytes: 1 << 30, FileBytes: 64 << 20, Processes: 32}
	mostLimits    = sandbox.Limits{CPUSeconds: 3600, MemoryBytes: 1 << 40, FileBytes: 64 << 30, Processes: 4096}
)

func wrong(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: field, Rule: rule}
}

// readConfig reads the part of a manifest that is the kind's:
//
//	program  the plain name of a file in the node's directory of programs
//	args     its arguments, which are fixed
//	env      its variables, which are; a last word secret:NAME is replaced on the node
//	limits   cpu_seconds, memory_bytes, file_bytes, processes
//	network  true: it has the node's network
func readConfig(m *kerneltools.Manifest) (*config, *failure.Refusal) {
	c := &config{limits: defaultLimits}
	rd := value.NewReader(m.Config)
	members, _ := rd.ReadMapHeader()
	for range members {
		name, _ := rd.ReadString()
		raw := rd.Skip()
		var refusal *failure.Refusal
		ok := true
		switch name {
		case "program":
			c.program, ok = raw.Text()
		case "args":
			refusal = c.readArgs(raw)
		case "env":
			refusal = c.readEnv(m, raw)
		case "limits":
			refusal = c.readLimits(raw)
		case "network":
			c.network, ok = raw.Bool()
		default:
			return nil, wrong(value.JoinKey("config", value.JoinKey(name, "")), "is nothing that kind exec knows: it knows program, args, env, limits, network")
		}
		switch {
		case refusal != nil:
			return nil, refusal
		case !ok:
			return nil, wrong("config."+name, "is of the wrong type")
		}
	}
	if !sandbox.IsName(c.program) {
		return nil, wrong("config.program", sandbox.ErrName.Error())
	}
	return c, nil
}

func (c *config) readArgs(raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	n, ok := rd.ReadListHeader()
	if !ok || n > maxArgs {
		return wrong("config.args", "must be a list of at most 64 texts")
	}
	for i := range n {
		text, ok := rd.Skip().Text()
		if !ok || !isText(text) {
			return wrong("config.args["+strconv.FormatUint(i, 10)+"]", "must be a text of at most 4096 bytes without the character 0")
		}
		c.args = append(c.args, text)
	}
	return nil
}

func (c *config) readEnv(m *kerneltools.Manifest, raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok || n > maxVariables {
		return wrong("config.env", "must be an object of at most 64 texts")
	}
	for range n {
		name, _ := rd.ReadString()
		text, ok := rd.Skip().Text()
		field := value.JoinKey("config", value.JoinKey("env", value.JoinKey(name, "")))
		switch {
		case !ok || !isText(text):
			return wrong(field, "must be a text of at most 4096 bytes without the character 0")
		case !isVariable(name):
			return wrong(field, "is no name of a variable: letters, digits and _, not beginning with a digit")
		case isOurs(name):
			return wrong(field, "is not the manifest's to set")
		}
		if _, secret, ok := httprequest.CutSecret(text); ok && !slices.Contains(m.Secrets, secret) {
			return wrong(field, "uses the secret "+strconv.Quote(secret)+", which secrets must list")
		}
		c.env = append(c.env, variable{name, text})
	}
	return nil
}

func (c *config) readLimits(raw value.Raw) *failure.Refusal {
	rd := value.NewReader(raw)
	n, ok := rd.ReadMapHeader()
	if !ok {
		return wrong("config.limits", "must be an object")
	}
	for range n {
		name, _ := rd.ReadString()
		amount, ok := rd.Skip().Int()
		var limit *uint64
		var most uint64
		switch name {
		case "cpu_seconds":
			limit, most = &c.limits.CPUSeconds, mostLimits.CPUSeconds
		case "memory_bytes":
			limit, most = &c.limits.MemoryBytes, mostLimits.MemoryBytes
		case "file_bytes":
			limit, most = &c.limits.FileBytes, mostLimits.FileBytes
		case "processes":
			limit, most = &c.limits.Processes, mostLimits.Processes
		default:
			return wrong(value.JoinKey("config", value.JoinKey("limits", value.JoinKey(name, ""))), "is no limit: there are cpu_seconds, memory_bytes, file_bytes, processes")
		}
		if !ok || amount < 1 || uint64(amount) > most {
			return wrong("config.limits."+name, "must be an integer from 1 to "+strconv.FormatUint(most, 10))
		}
		*limit = uint64(amount)
	}
	return nil
}

func isText(text string) bool {
	return len(text) <= maxTextBytes && !strings.Contains(text, "\x00")
}

func isVariable(name string) bool {
	for i := range len(name) {
		c := name[i]
		if (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_' && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= 128
}

// isOurs tells which variables every program has from the node, and which would
// change what the program is.
func isOurs(name string) bool {
	switch name {
	case "PATH", "HOME", "TMPDIR", "LANG":
		return true
	}
	return strings.HasPrefix(name, "OMNI_") || strings.HasPrefix(name, "LD_")
}
