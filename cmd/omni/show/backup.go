package show

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster/restore"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/fsm/backup"
	"github.com/omnikernel/omnikernel/transport/api"
)

// BackupProgress is how far reading a backup is, in a few words.
func BackupProgress(part backup.Part, done, total uint64) string {
	if part == backup.PartState {
		return fmt.Sprintf("state: %d rows", done)
	}
	percent := uint64(100)
	if total > 0 {
		percent = done * 100 / total
	}
	return fmt.Sprintf("log: %s of %s, %d %%", size(done), size(total), percent)
}

// BackupMade shows a backup that was made, and where it is.
func BackupMade(p *tell.Page, file string, s backup.Summary) {
	what := "backup"
	if file != "" {
		what = p.Accent(file)
	}
	p.Line("%s: %s of cluster %s, kernel %s, as of index %d, from %s", what, size(uint64(s.Bytes)), s.ClusterID, s.KernelID, s.Index, s.Node)
	p.Line("%s", p.Faint(fmt.Sprintf("%d records in %d blocks, state of %s, sha256 %s", s.Records, s.Blocks, size(s.StateBytes), s.SHA256)))
	if s.FullFrom > 0 {
		p.Line("%s", p.Warn(fmt.Sprintf("the node does not have its archive: the log is whole from busSeq %d on, before it the backup has only the digests of %d blocks", s.FullFrom, s.Stubs)))
	}
}

// Backup shows what is in a backup, and how far it was checked.
func Backup(p *tell.Page, r backup.Report) {
	switch r.Checked {
	case backup.CheckedAll:
		p.Line("%s: every checksum, the chain and the state's digest hold", p.Good("the backup is sound"))
		p.Line("")
	case backup.CheckedDeep:
		p.Line("%s: every checksum, the chain and the state's digest hold, and the log leads to the state", p.Good("the backup is sound"))
		p.Line("")
	}
	backupFields(p, r.Summary, r.Content)
	if r.Checked == backup.CheckedState {
		p.Line("%s", p.Faint("the log was not read: omni backup verify checks it"))
	}
}

func backupFields(p *tell.Page, s backup.Summary, c backup.Content) {
	calls := number(c.Calls)
	if c.Dispatched > 0 {
		calls += fmt.Sprintf(", %d of them must not be made again", c.Dispatched)
	}
	p.Fields(
		[2]string{"cluster", s.ClusterID + ", kernel " + s.KernelID},
		[2]string{"as of", fmt.Sprintf("index %d, term %d, kernel clock %s", s.Index, s.Term, when(s.ClockMillis))},
		[2]string{"made", fmt.Sprintf("%s by %s, omni %s", s.MadeAt.Format(time.RFC3339), s.Node, s.Binary)},
		[2]string{"size", fmt.Sprintf("%s: state %s, log %s", size(uint64(s.Bytes)), size(s.StateBytes), size(s.LogBytes))},
		[2]string{"log", fmt.Sprintf("%d records in %d blocks", s.Records, s.Blocks) + archived(s)},
		[2]string{"agents", agentsByState(c)},
		[2]string{"memory", fmt.Sprintf("%d keys of agents, %d shared", c.MemoryKeys, c.SharedKeys)},
		[2]string{"sessions", number(c.Sessions)},
		[2]string{"open calls", calls},
		[2]string{"waiting", fmt.Sprintf("%d ticks, %d timers, %d delegations, %d escalations", c.Ticks, c.Timers, c.Delegations, c.Escalations)},
		[2]string{"chain", s.Chain},
		[2]string{"state", s.StateDigest},
		[2]string{"sha256", s.SHA256},
	)
}

// archived says what is only in an archive.
func archived(s backup.Summary) string {
	if s.FullFrom == 0 {
		return ""
	}
	return fmt.Sprintf("; whole from busSeq %d on, before it only the digests of %d blocks that were archived", s.FullFrom, s.Stubs)
}

func agentsByState(c backup.Content) string {
	text := number(c.Agents)
	var states []string
	for _, state := range slices.Sorted(maps.Keys(c.AgentsByState)) {
		states = append(states, fmt.Sprintf("%d %s", c.AgentsByState[state], state))
	}
	if len(states) > 0 {
		text += ": " + strings.Join(states, ", ")
	}
	return text
}

// Restored shows what a restore made, and what to do next.
func Restored(p *tell.Page, r restore.Report, next []string) {
	p.Line("%s from cluster %s, kernel %s, as of index %d", p.Good("restored cluster "+r.ClusterID), r.From, r.KernelID, r.Index)
	rows := make([][]string, 0, len(r.Nodes))
	for _, node := range r.Nodes {
		rows = append(rows, []string{node.Node, node.Dir})
	}
	if r.Backup.FullFrom > 0 {
		p.Line("%s", p.Warn(fmt.Sprintf("the log is whole from busSeq %d on; that it leads to the state could not be checked, since blocks before it are in an archive", r.Backup.FullFrom)))
	}
	p.Line("")
	p.Table([]string{"NODE", "DATA DIRECTORY"}, rows)
	p.Line("")
	p.Line("Start it:")
	p.Line("")
	for _, line := range next {
		p.Line("  %s", p.Accent(line))
	}
}

// scheduled says how the backups stand that a node makes by itself.
func scheduled(s tell.Style, b *api.Backups) string {
	text := "no backup in " + b.Dir + " yet"
	if b.File != "" {
		text = fmt.Sprintf("backup of %s as of index %d, %s: %s", when(b.AtMillis), b.Index, size(uint64(b.Bytes)), b.File)
	}
	if b.Error != "" {
		text += ", " + s.Bad(fmt.Sprintf("%d attempts failed since, the last at %s: %s", b.Failures, when(b.FailedMillis), b.Error))
	}
	return text
}
