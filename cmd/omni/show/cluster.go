package show

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// Status shows a cluster.
func Status(p *tell.Page, s api.Status) {
	leader := s.Leader
	if leader == "" {
		leader = p.Bad("none is known")
	}
	p.Line("cluster %s, kernel %s: leader %s, term %d", p.Accent(s.ClusterID), s.KernelID, leader, s.Term)
	if s.KernelVersion != 0 {
		p.Line("%s", versions(p.Style, s))
	}
	if stop := s.Stopped; stop != nil {
		p.Line("%s by %s at %s: %s", p.Bad("stopped"), stop.By, when(stop.SinceMillis), stop.Reason)
		p.Line("%s", p.Faint("  nothing runs until: omni cluster resume"))
	}
	for _, l := range s.NearLimits {
		p.Line("%s", limit(p.Style, l))
	}
	p.Line("")
	rows := make([][]string, 0, len(s.Nodes))
	for _, n := range s.Nodes {
		rows = append(rows, []string{
			n.ID, role(p.Style, n.Role), number(n.AppliedIndex), number(n.CommitIndex), short(n.Digest),
			strconv.FormatInt(n.LagMillis, 10), strconv.FormatUint(uint64(n.Agents), 10), health(p.Style, n),
			(time.Duration(n.UptimeMillis) * time.Millisecond).Round(time.Second).String(), n.API, n.Raft,
		})
	}
	p.Table([]string{"NODE", "ROLE", "APPLIED", "COMMIT", "DIGEST", "LAG MS", "AGENTS", "HEALTH", "UP", "API", "RAFT"}, rows)
	for _, n := range s.Nodes {
		if n.Reason != "" {
			p.Line("%s: %s", n.ID, n.Reason)
		}
		if n.Backups != nil {
			p.Line("%s: %s", n.ID, scheduled(p.Style, n.Backups))
		}
		if n.SafeMode != nil {
			p.Line("%s", p.Faint("  "+n.SafeMode.Hint))
		}
		if n.Backfill != nil {
			p.Line("%s: %s", n.ID, p.Warn(backfill(n.HistoryFrom, n.Backfill)))
		}
	}
	for _, pair := range unlike(s.Nodes) {
		p.Line("%s", p.Bad(pair))
	}
}

// limit tells of one that is near, or reached.
func limit(style tell.Style, l api.Limit) string {
	text := l.Limit + ": " + number(l.Used) + " of " + number(l.Most)
	if l.Used >= l.Most {
		return style.Bad(text + ": more is refused")
	}
	return style.Warn(text + ": more is refused soon")
}

// versions tells the kernel version, and who keeps it from rising.
func versions(style tell.Style, s api.Status) string {
	newest := s.KernelVersion
	for _, n := range s.Nodes {
		newest = max(newest, n.KnowsVersion)
	}
	text := "kernel version " + number(uint64(s.KernelVersion))
	if newest == s.KernelVersion {
		return text
	}
	var behind []string
	for _, n := range s.Nodes {
		switch {
		case n.Role == "unreachable":
			behind = append(behind, n.ID+" does not answer")
		case max(n.KnowsVersion, 1) < newest:
			behind = append(behind, n.ID+" knows "+number(uint64(max(n.KnowsVersion, 1))))
		}
	}
	text += ": rises to " + number(uint64(s.KernelVersion+1)) + " when every node knows it"
	if len(behind) > 0 {
		text += " (" + strings.Join(behind, ", ") + ")"
	}
	return style.Warn(text)
}

// backfill says, of a node whose history is not complete, from where on it is and
// what becomes of the rest.
func backfill(from uint64, b *api.Backfill) string {
	text := fmt.Sprintf("has history from busSeq %d on; %s missing, %s fetched", from, size(b.MissingBytes), size(b.FetchedBytes))
	if b.DamagedFiles > 0 {
		text += fmt.Sprintf("; %d damaged segments are fetched again", b.DamagedFiles)
	}
	switch {
	case b.From != "":
		text += ", from " + b.From
	case b.Reason != "":
		text += ", nothing comes: " + b.Reason
	}
	return text
}

// size writes a number of bytes for people.
func size(bytes uint64) string {
	const unit = 1024
	if bytes < unit {
		return strconv.FormatUint(bytes, 10) + " B"
	}
	n, names := float64(bytes)/unit, "KMGTPE"
	for n >= unit {
		n, names = n/unit, names[1:]
	}
	return fmt.Sprintf("%.1f %ciB", n, names[0])
}

// unlike names nodes that have applied the same and differ.
func unlike(nodes []api.NodeStatus) []string {
	var found []string
	for i, a := range nodes {
		for _, b := range nodes[i+1:] {
			if a.Digest != "" && b.Digest != "" && a.AppliedIndex == b.AppliedIndex && a.Digest != b.Digest {
				found = append(found, fmt.Sprintf("%s and %s differ at index %d", a.ID, b.ID, a.AppliedIndex))
			}
		}
	}
	return found
}

func role(s tell.Style, role string) string {
	switch role {
	case "leader":
		return s.Good(role)
	case "unreachable", "safe_mode":
		return s.Bad(role)
	case "candidate":
		return s.Warn(role)
	}
	return role
}

// health says beside it where a node stands that is not Running, unless its role does.
func health(s tell.Style, n api.NodeStatus) string {
	text := s.Bad("unhealthy")
	if n.Healthy {
		text = s.Good("ok")
	}
	if n.State != "" && n.State != "Running" && n.Role != "safe_mode" {
		text += ", " + s.Warn(n.State)
	}
	return text
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// short is enough of a digest to see whether two are alike.
func short(digest string) string {
	const enough = 12
	if digest == "" {
		return "-"
	}
	return digest[:min(enough, len(digest))]
}

// Export shows what a verified log comes to.
func Export(p *tell.Page, s logexport.Summary) {
	from := "the beginning"
	if !s.Genesis {
		from = "busSeq " + number(s.FromSeq)
	}
	p.Line("%s from %s: %d records in %d blocks, %d bytes, up to busSeq %d, index %d",
		p.Good("the chain holds"), from, s.Records, s.Blocks, s.Bytes, s.NextSeq-1, s.LastIndex)
	p.Line("%s", p.Faint("chain "+s.Chain))
}
