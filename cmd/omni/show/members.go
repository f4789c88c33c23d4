package show

import (
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/transport/api"
)

// Members shows who the members are.
func Members(p *tell.Page, m api.Members) {
	leader := m.Leader
	if leader == "" {
		leader = p.Bad("none is known")
	}
	spare := p.Warn("none may fail")
	if m.Spare > 0 {
		spare = p.Good(number(uint64(m.Spare)) + " more may fail")
	}
	p.Line("cluster %s, kernel %s: leader %s; %d voters, %d answer, %s", p.Accent(m.ClusterID), m.KernelID, leader, m.Voters, m.Answering, spare)
	p.Line("")
	rows := make([][]string, 0, len(m.Members))
	for _, one := range m.Members {
		rows = append(rows, []string{
			one.ID, role(p.Style, one.Role), vote(p.Style, one), number(one.Behind), size(one.MissingBytes), wellness(p.Style, one.Healthy), one.API, one.Raft,
		})
	}
	p.Table([]string{"NODE", "ROLE", "VOTE", "BEHIND", "HISTORY MISSING", "HEALTH", "API", "RAFT"}, rows)
	for _, one := range m.Members {
		if one.Reason != "" {
			p.Line("%s: %s", one.ID, one.Reason)
		}
	}
}

func vote(s tell.Style, m api.Member) string {
	switch {
	case m.Voter:
		return "voter"
	case m.Learner:
		return "learner"
	}
	return s.Warn("learner, until it has caught up")
}

func wellness(s tell.Style, healthy bool) string {
	if healthy {
		return s.Good("ok")
	}
	return s.Bad("unhealthy")
}

// MemberChanged says what came of a change of the members.
func MemberChanged(p *tell.Page, m api.MemberChanged) {
	if !m.Changed {
		p.Line("%s: nothing to %s, it was so before; %d voters", p.Accent(m.Node), m.Change, m.Voters)
		return
	}
	done := map[string]string{"add": "is a learner", "remove": "is removed", "promote": "votes", "demote": "is a learner, and stays one"}[m.Change]
	p.Line("%s %s; %d voters", p.Accent(m.Node), done, m.Voters)
	switch m.Change {
	case "add":
		p.Line("%s", p.Faint("it votes when it has caught up: omni cluster list"))
	case "remove":
		p.Line("%s", p.Faint("its process stops by itself; its id and its data directory must not come back"))
	}
}
