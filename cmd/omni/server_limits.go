package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// How much a cluster may hold, and one agent in it, is fixed where the cluster begins.
// These are the limits that --limit sets; those that say what one event, tick or answer
// may cost are not among them, because nodes rely on them before there is a cluster.

func wideLimits(c *config.Config) map[string]*uint64 {
	return map[string]*uint64{
		"log_error_bytes": &c.LogErrorBytes, "log_warn_bytes": &c.LogWarnBytes,
		"max_interned_bytes": &c.MaxInternedBytes, "max_memory_bytes": &c.MaxMemoryBytes,
		"max_persistent_bytes": &c.MaxPersistentBytes, "max_shared_bytes": &c.MaxSharedBytes,
	}
}

func narrowLimits(c *config.Config) map[string]*uint32 {
	return map[string]*uint32{
		"global_queue": &c.GlobalQueue, "instruction_queue": &c.InstructionQueue, "max_agents": &c.MaxAgents,
		"max_children": &c.MaxChildren, "max_depth": &c.MaxDepth, "max_escalations": &c.MaxEscalations,
		"max_idempotency_keys": &c.MaxIdempotencyKeys, "max_mailbox": &c.MaxMailbox, "max_memory_keys": &c.MaxMemoryKeys,
		"max_outbox": &c.MaxOutbox, "max_retries": &c.MaxRetries, "max_runs": &c.MaxRuns, "max_sessions": &c.MaxSessions,
		"max_shared_keys": &c.MaxSharedKeys, "max_tasks": &c.MaxTasks, "max_tools": &c.MaxTools,
	}
}

// settable are the limits' names, in order.
func settable() []string {
	var c config.Config
	return slices.Sorted(func(yield func(string) bool) {
		for name := range maps.Keys(wideLimits(&c)) {
			if !yield(name) {
				return
			}
		}
		for name := range maps.Keys(narrowLimits(&c)) {
			if !yield(name) {
				return
			}
		}
	})
}

// setLimits sets what --limit names. Whether a number will do is for Check to say.
func setLimits(c *config.Config, texts []string) error {
	wide, narrow := wideLimits(c), narrowLimits(c)
	seen := make(map[string]bool)
	for _, text := range texts {
		name, number, _ := strings.Cut(text, "=")
		n, err := strconv.ParseUint(number, 10, 64)
		into, is32 := narrow[name]
		switch {
		case err != nil:
			return fmt.Errorf("--limit %q: must be NAME=N, such as max_agents=5000", text)
		case seen[name]:
			return fmt.Errorf("--limit %s: is given twice", name)
		case wide[name] != nil:
			*wide[name] = n
		case !is32:
			return fmt.Errorf("--limit %s: is none that can be set: one of %s", name, strings.Join(settable(), ", "))
		case n > math.MaxUint32:
			return fmt.Errorf("--limit %s: %d is too much", name, n)
		default:
			*into = uint32(n)
		}
		seen[name] = true
	}
	return nil
}

// wrongLimit says which flag asked for what the kernel cannot keep.
func wrongLimit(r *failure.Refusal) error {
	name := strings.TrimPrefix(r.Field, "config.")
	if slices.Contains(settable(), name) {
		return fmt.Errorf("--limit %s: %s", name, r.Rule)
	}
	return fmt.Errorf("--%s: %s", strings.ReplaceAll(name, "_", "-"), r.Rule)
}
