package config

import (
	"cmp"
	"strconv"

	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/logging"
)

// Config is the body of KernelBooted. Times are milliseconds, sizes bytes.
type Config struct {
	Version   uint32   `cbor:"1,keyasint" json:"version"`
	ClusterID string   `cbor:"2,keyasint" json:"cluster_id"`
	KernelID  string   `cbor:"3,keyasint" json:"kernel_id"`
	Seed      [16]byte `cbor:"4,keyasint" json:"-"`

	MaxStepsPerTick    uint32 `cbor:"10,keyasint" json:"max_steps_per_tick"`
	MaxCallsPerTick    uint32 `cbor:"11,keyasint" json:"max_calls_per_tick"`
	WorkPerEvent       uint64 `cbor:"12,keyasint" json:"work_per_event"`
	MaxWorkPerTick     uint64 `cbor:"13,keyasint" json:"max_work_per_tick"`
	MaxAgents          uint32 `cbor:"14,keyasint" json:"max_agents"`
	GlobalQueue        uint32 `cbor:"15,keyasint" json:"global_queue"`
	InstructionQueue   uint32 `cbor:"16,keyasint" json:"instruction_queue"`
	MaxValueBytes      uint32 `cbor:"17,keyasint" json:"max_value_bytes"`
	MaxCheckpointBytes uint32 `cbor:"18,keyasint" json:"max_checkpoint_bytes"`
	MaxProgramBytes    uint32 `cbor:"19,keyasint" json:"max_program_bytes"`
	MaxInternedBytes   uint64 `cbor:"20,keyasint" json:"max_interned_bytes"`
	MaxOutbox          uint32 `cbor:"21,keyasint" json:"max_outbox"`

	DefaultCallTimeoutMillis int64 `cbor:"30,keyasint" json:"default_call_timeout_ms"`
	MaxCallTimeoutMillis     int64 `cbor:"31,keyasint" json:"max_call_timeout_ms"`
	CallGraceMillis          int64 `cbor:"34,keyasint" json:"call_grace_ms"`
	ResumableTTLMillis       int64 `cbor:"32,keyasint" json:"resumable_ttl_ms"`
	RetentionMillis          int64 `cbor:"33,keyasint" json:"retention_ms"`

	MaxSessions             uint32 `cbor:"40,keyasint" json:"max_sessions"`
	SessionIdleMillis       int64  `cbor:"41,keyasint" json:"session_idle_ms"`
	SessionOpenMillis       int64  `cbor:"42,keyasint" json:"session_open_ms"`
	MaxIdempotencyKeys      uint32 `cbor:"43,keyasint" json:"max_idempotency_keys"`
	IdempotencyWindowMillis int64  `cbor:"44,keyasint" json:"idempotency_window_ms"`

	SegmentBytes uint64 `cbor:"50,keyasint" json:"segment_bytes"`

	MaxMemoryKeys    uint32 `cbor:"60,keyasint" json:"max_memory_keys"`
	MaxMemoryBytes   uint64 `cbor:"61,keyasint" json:"max_memory_bytes"`
	MaxSharedKeys    uint32 `cbor:"62,keyasint" json:"max_shared_keys"`
	MaxSharedBytes   uint64 `cbor:"63,keyasint" json:"max_shared_bytes"`
	MaxMailbox       uint32 `cbor:"64,keyasint" json:"max_mailbox"`
	MaxMailboxBytes  uint32 `cbor:"65,keyasint" json:"max_mailbox_bytes"`
	MaxDepth         uint32 `cbor:"66,keyasint" json:"max_depth"`
	MaxChildren      uint32 `cbor:"67,keyasint" json:"max_children"`
	MaxEscalations   uint32 `cbor:"68,keyasint" json:"max_escalations"`
	MaxRetries       uint32 `cbor:"69,keyasint" json:"max_retries"`
	BackoffMillis    int64  `cbor:"70,keyasint" json:"backoff_ms"`
	MaxBackoffMillis int64  `cbor:"71,keyasint" json:"max_backoff_ms"`
	EscalationMillis int64  `cbor:"72,keyasint" json:"escalation_ttl_ms"`
	DelegationMillis int64  `cbor:"73,keyasint" json:"default_delegation_timeout_ms"`
	ReceiveMillis    int64  `cbor:"74,keyasint" json:"default_receive_timeout_ms"`
	MaxWaitMillis    int64  `cbor:"75,keyasint" json:"max_wait_ms"`

	MaxPersistentBytes uint64 `cbor:"76,keyasint" json:"max_persistent_bytes"`

	MaxRuns     uint32 `cbor:"80,keyasint" json:"max_runs"`
	MaxTasks    uint32 `cbor:"81,keyasint" json:"max_tasks"`
	MaxRunBytes uint32 `cbor:"82,keyasint" json:"max_run_bytes"`

	MaxTools         uint32 `cbor:"90,keyasint" json:"max_tools"`
	MaxManifestBytes uint32 `cbor:"91,keyasint" json:"max_manifest_bytes"`

	// What version 2 brought is absent at version 1, whose bytes do not change.
	VersionSeq    uint64 `cbor:"100,keyasint,omitempty" json:"version_seq,omitempty"` // busSeq of the record that brought the version; 0: the cluster began with it
	LogWarnBytes  uint64 `cbor:"101,keyasint,omitempty" json:"log_warn_bytes,omitempty"`
	LogErrorBytes uint64 `cbor:"102,keyasint,omitempty" json:"log_error_bytes,omitempty"`
}

// Version is the newest version of the kernel's behaviour that this binary knows,
// and what a new cluster starts with (EV-9). It knows every version from 1 on.
const Version = 2

// Default returns the limits of a new cluster. The caller sets ClusterID,
// KernelID and Seed.
func Default() Config {
	return Config{
		Version:  Version,
		KernelID: "default",

		MaxStepsPerTick:    10_000,
		MaxCallsPerTick:    1_000,
		WorkPerEvent:       100_000,
		MaxWorkPerTick:     400_000,
		MaxAgents:          1_000_000,
		GlobalQueue:        1_000_000,
		InstructionQueue:   64,
		MaxValueBytes:      64 << 10,
		MaxCheckpointBytes: 256 << 10,
		MaxProgramBytes:    256 << 10,
		MaxInternedBytes:   1 << 30,
		MaxOutbox:          100_000,

		DefaultCallTimeoutMillis: 30_000,
		MaxCallTimeoutMillis:     30 * 24 * 3_600_000, // people take their time
		CallGraceMillis:          5_000,
		ResumableTTLMillis:       30 * 24 * 3_600_000,
		RetentionMillis:          24 * 3_600_000,

		MaxSessions:             20_000,
		SessionIdleMillis:       3_600_000,
		SessionOpenMillis:       300_000,
		MaxIdempotencyKeys:      20_000,
		IdempotencyWindowMillis: 600_000,

		SegmentBytes: 64 << 20,

		MaxMemoryKeys:    1024,
		MaxMemoryBytes:   1 << 20,
		MaxSharedKeys:    1_000_000,
		MaxSharedBytes:   1 << 30,
		MaxMailbox:       64,
		MaxMailboxBytes:  256 << 10,
		MaxDepth:         8,
		MaxChildren:      1000,
		MaxEscalations:   10_000,
		MaxRetries:       3,
		BackoffMillis:    1_000,
		MaxBackoffMillis: 60_000,
		EscalationMillis: 3_600_000,
		DelegationMillis: 24 * 3_600_000,
		ReceiveMillis:    24 * 3_600_000,
		MaxWaitMillis:    30 * 24 * 3_600_000,

		MaxPersistentBytes: 1 << 30,

		MaxRuns:     100_000,
		MaxTasks:    256,
		MaxRunBytes: 256 << 10,

		MaxTools:         1000,
		MaxManifestBytes: 64 << 10,

		LogWarnBytes:  defaultLogWarn,
		LogErrorBytes: defaultLogError,
	}
}

const (
	defaultLogWarn  = 10 << 20
	defaultLogError = 50 << 20
)

// At is the configuration as that kernel version has it: limits that came later are
// absent, and those that it brought have their defaults where they are not set.
func (c Config) At(version uint32) Config {
	c.Version = version
	if version < 2 {
		c.VersionSeq, c.LogWarnBytes, c.LogErrorBytes = 0, 0, 0
		return c
	}
	c.LogWarnBytes, c.LogErrorBytes = cmp.Or(c.LogWarnBytes, defaultLogWarn), cmp.Or(c.LogErrorBytes, defaultLogError)
	return c
}

// Check refuses a configuration that the kernel could not keep.
func (c *Config) Check() *failure.Refusal {
	switch {
	case c.Version == 0 || c.Version > Version:
		return bad("version", "this binary knows kernel versions 1 to "+strconv.Itoa(Version))
	case c.KernelID == "" || len(c.KernelID) > 64:
		return bad("kernel_id", "must have 1 to 64 bytes")
	}
	if r := CheckClusterID(c.ClusterID); r != nil {
		return r
	}
	if r := c.checkLimits(); r != nil {
		return r
	}
	if r := c.checkSpans(); r != nil {
		return r
	}
	return c.checkNewer()
}

// maxLogBytes bounds how much log one agent may come to.
const maxLogBytes = 1 << 40

// checkNewer looks at what came after version 1, which has nothing of it.
func (c *Config) checkNewer() *failure.Refusal {
	if c.VersionSeq != 0 {
		return bad("version_seq", "must be absent: the kernel sets it when the version rises")
	}
	if c.Version < 2 {
		switch {
		case c.LogWarnBytes != 0:
			return bad("log_warn_bytes", "came with kernel version 2")
		case c.LogErrorBytes != 0:
			return bad("log_error_bytes", "came with kernel version 2")
		}
		return nil
	}
	return CheckLogBytes(c.LogWarnBytes, c.LogErrorBytes)
}

// CheckLogBytes refuses what cannot be the limits of an agent's log.
func CheckLogBytes(warn, most uint64) *failure.Refusal {
	switch {
	case warn == 0 || warn > maxLogBytes:
		return bad("log_warn_bytes", "must be from 1 to "+strconv.FormatUint(maxLogBytes, 10))
	case most < warn || most > maxLogBytes:
		return bad("log_error_bytes", "must be from log_warn_bytes to "+strconv.FormatUint(maxLogBytes, 10))
	}
	return nil
}

// CheckClusterID refuses what cannot be the id of a cluster.
func CheckClusterID(id string) *failure.Refusal {
	if id == "" || len(id) > 64 {
		return bad("cluster_id", "must have 1 to 64 bytes")
	}
	return nil
}

// checkLimits keeps every number within what the formats can hold: a block of
// the log (work_per_event, max_steps_per_tick, max_value_bytes and
// max_checkpoint_bytes together stay below logging.MaxBlockBytes), a row of a
// snapshot (instruction_queue), a 32-bit machine.
func (c *Config) checkLimits() *failure.Refusal {
	for _, limit := range []struct {
		field   string
		n, most uint64
	}{
		{"max_steps_per_tick", uint64(c.MaxStepsPerTick), 100_000},
		{"max_calls_per_tick", uint64(c.MaxCallsPerTick), 100_000},
		{"work_per_event", c.WorkPerEvent, 100_000},
		{"max_work_per_tick", c.MaxWorkPerTick, 10_000_000},
		{"max_agents", uint64(c.MaxAgents), 10_000_000},
		{"global_queue", uint64(c.GlobalQueue), 10_000_000},
		{"instruction_queue", uint64(c.InstructionQueue), 1024},
		{"max_value_bytes", uint64(c.MaxValueBytes), 512 << 10},
		{"max_checkpoint_bytes", uint64(c.MaxCheckpointBytes), 1 << 20},
		{"max_program_bytes", uint64(c.MaxProgramBytes), 256 << 10},
		{"max_interned_bytes", c.MaxInternedBytes, 1 << 40},
		{"max_outbox", uint64(c.MaxOutbox), 1_000_000},
		{"max_sessions", uint64(c.MaxSessions), 1_000_000},
		{"max_idempotency_keys", uint64(c.MaxIdempotencyKeys), 1_000_000},
		{"segment_bytes", c.SegmentBytes, logging.MaxSegmentBytes},
		{"max_memory_keys", uint64(c.MaxMemoryKeys), 4096},
		{"max_memory_bytes", c.MaxMemoryBytes, 16 << 20},
		{"max_persistent_bytes", c.MaxPersistentBytes, 1 << 40},
		{"max_shared_keys", uint64(c.MaxSharedKeys), 10_000_000},
		{"max_shared_bytes", c.MaxSharedBytes, 1 << 40},
		{"max_mailbox", uint64(c.MaxMailbox), 1024},
		{"max_mailbox_bytes", uint64(c.MaxMailboxBytes), 1 << 20},
		{"max_depth", uint64(c.MaxDepth), 32},
		{"max_children", uint64(c.MaxChildren), 1000},
		{"max_escalations", uint64(c.MaxEscalations), 1_000_000},
		{"max_retries", uint64(c.MaxRetries), 100},
		{"max_runs", uint64(c.MaxRuns), 10_000_000},
		{"max_tasks", uint64(c.MaxTasks), 1024},
		{"max_run_bytes", uint64(c.MaxRunBytes), 1 << 20},
		{"max_tools", uint64(c.MaxTools), 100_000},
		{"max_manifest_bytes", uint64(c.MaxManifestBytes), 256 << 10},
	} {
		if limit.n == 0 || limit.n > limit.most {
			return bad(limit.field, "must be from 1 to "+strconv.FormatUint(limit.most, 10))
		}
	}
	return nil
}

// minWorkPerEvent leaves room for ticks beside the record of a Pulse, however
// much its proposer put into it.
const minWorkPerEvent = 1000

// maxSpanMillis bounds every duration: a hundred years, so that no deadline
// overflows.
const maxSpanMillis = 100 * 365 * 24 * 3_600_000

func (c *Config) checkSpans() *failure.Refusal {
	for _, span := range []struct {
		field  string
		millis int64
	}{
		{"default_call_timeout_ms", c.DefaultCallTimeoutMillis},
		{"max_call_timeout_ms", c.MaxCallTimeoutMillis},
		{"call_grace_ms", c.CallGraceMillis},
		{"resumable_ttl_ms", c.ResumableTTLMillis},
		{"retention_ms", c.RetentionMillis},
		{"session_idle_ms", c.SessionIdleMillis},
		{"session_open_ms", c.SessionOpenMillis},
		{"idempotency_window_ms", c.IdempotencyWindowMillis},
		{"backoff_ms", c.BackoffMillis},
		{"max_backoff_ms", c.MaxBackoffMillis},
		{"escalation_ttl_ms", c.EscalationMillis},
		{"default_delegation_timeout_ms", c.DelegationMillis},
		{"default_receive_timeout_ms", c.ReceiveMillis},
		{"max_wait_ms", c.MaxWaitMillis},
	} {
		if span.millis <= 0 || span.millis > maxSpanMillis {
			return bad(span.field, "must be from 1 ms to 100 years")
		}
	}
	if c.WorkPerEvent < minWorkPerEvent {
		return bad("work_per_event", "must be at least 1000, or the record of an event could take all of it")
	}
	if c.SessionIdleMillis < 2*c.SessionOpenMillis {
		// A session id may be ahead of the clock by session_open_ms.
		return bad("session_idle_ms", "must be at least twice session_open_ms, so that no dropped session opens again")
	}
	return nil
}

func bad(field, rule string) *failure.Refusal {
	return &failure.Refusal{Code: failure.InvalidArgument, Field: "config." + field, Rule: rule}
}
