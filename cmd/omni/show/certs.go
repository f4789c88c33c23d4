package show

import (
	"fmt"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/certs"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
)

// CertificateMade shows what was written, and what to do with it.
func CertificateMade(p *tell.Page, made certs.Made) {
	c := made.Certificate
	p.Line("%s of cluster %s, until %s", p.Accent(strings.TrimSpace(c.Kind+" "+nameOf(c))), made.Cluster, c.NotAfter.Format(time.DateOnly))
	for _, file := range made.Files {
		note := ""
		if strings.Contains(file, "-key") {
			note = p.Faint("  secret")
		}
		p.Line("  %s%s", file, note)
	}
	for i, next := range made.Next {
		if len(made.Next) == 1 {
			p.Line("next: %s", next)
			continue
		}
		if i == 0 {
			p.Line("next:")
		}
		p.Line("  %d. %s", i+1, next)
	}
}

func nameOf(c certs.Certificate) string {
	if c.Kind == "authority" {
		return ""
	}
	return c.Name
}

// Certificates shows what certificates say of themselves.
func Certificates(p *tell.Page, found certs.Inspection) {
	for i, c := range found.Certificates {
		if i > 0 {
			p.Line("")
		}
		state := p.Good(c.State)
		switch c.State {
		case certs.Expired, certs.NotYetValid:
			state = p.Bad(strings.ReplaceAll(c.State, "_", " "))
		case certs.EndsSoon:
			state = p.Warn(fmt.Sprintf("ends soon: in %d days", c.DaysLeft))
		}
		p.Line("%s %s", p.Accent(strings.TrimSpace(c.Kind+" "+c.Name)), p.Faint(c.From))
		p.Fields(
			[2]string{"  cluster", c.Cluster},
			[2]string{"  uri", c.URI},
			[2]string{"  hosts", strings.Join(c.Hosts, ", ")},
			[2]string{"  serial", c.Serial},
			[2]string{"  from", c.NotBefore.Format(time.RFC3339)},
			[2]string{"  until", c.NotAfter.Format(time.RFC3339) + "  " + state},
			[2]string{"  signed by", c.SignedBy},
			[2]string{"  trusted", c.Trusted},
		)
	}
}
