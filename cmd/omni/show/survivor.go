package show

import (
	"strings"

	"github.com/omnikernel/omnikernel/cluster/survivor"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

// Survivor says what a node that is left has, or what was done with it.
func Survivor(p *tell.Page, dir string, f survivor.Finding) {
	voters, others := 0, []string{}
	for _, m := range f.Members {
		if m.Voter {
			voters++
		}
		if m.ID != f.Node {
			others = append(others, m.ID)
		}
	}
	p.Line("%s of cluster %s: last entry %d of term %d, in term %d", p.Accent(f.Node), f.Cluster, f.Last, f.LastTerm, f.Term)
	p.Line("  members so far: %d, of which %d vote; the others are %s", len(f.Members), voters, strings.Join(others, ", "))
	p.Line("  known to be committed: up to index %d", f.Applied)
	if f.Index > 0 {
		p.Line("")
		p.Line("%s is the only member from index %d on", p.Good(f.Node), f.Index)
		p.Line("  the Raft store as it was: %s", f.Copy)
		p.Line("%s", p.Faint("start it as ever, and add others, with empty directories: omni cluster join"))
		return
	}
	p.Line("")
	p.Line("%s", p.Warn("If it goes on alone:"))
	p.Line("  lost is what was committed and never reached it: nobody can tell here how much that is")
	p.Line("  %d entries that it has may not have been committed: they take effect", f.Last-min(f.Applied, f.Last))
	if !f.Voter {
		p.Line("  %s did not vote: no majority has ever waited for it, and it may lack much that one had; prefer a voter", f.Node)
	}
	if f.Lacking > 0 {
		p.Line("  %d bytes of its execution log are not here and are lost, unless another node's directory or a backup has them", f.Lacking)
	}
	p.Line("  %s must not go on, or there are two clusters: one that comes back is turned away, and stops", strings.Join(others, ", "))
	p.Line("  of several survivors, take the one with the highest last term, and of those the highest last entry")
	p.Line("")
	p.Line("nothing was changed; to do it: omni cluster recover --data-dir %s --confirm %s", dir, p.Accent(f.Token))
}
