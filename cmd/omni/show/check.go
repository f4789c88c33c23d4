package show

import (
	"fmt"

	"github.com/omnikernel/omnikernel/cmd/omni/agentcheck"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Checked shows what a check of an agent came to.
func Checked(p *tell.Page, r *agentcheck.Report) {
	for _, f := range r.Findings {
		severity := p.Warn(f.Severity + ":")
		if f.Severity == agentcheck.Error {
			severity = p.Bad(f.Severity + ":")
		}
		at := r.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d:%d", r.File, f.Line, f.Column)
		}
		p.Line("%s %s: %s: %s", severity, at, f.Rule, f.Message)
		if f.Hint != "" {
			p.Line("  %s %s", p.Faint("hint:"), f.Hint)
		}
	}
	if len(r.Findings) == 0 {
		p.Line("%s nothing is wrong with %s", p.Good("ok:"), r.File)
	}
	if r.Run != nil {
		dryRun(p, r.Run)
	}
}

func dryRun(p *tell.Page, r *agentcheck.Run) {
	p.Line("")
	p.Line("dry run: %s after %s, %s and %s, in %d ms of the kernel's time", p.Accent(r.State),
		counted(r.Ticks, "tick"), counted(int(r.Steps), "step"), counted(len(r.Calls), "call"), r.Millis)
	for i, c := range r.Calls {
		who := ""
		if c.Agent != "" {
			who = " " + c.Agent + ":"
		}
		p.Line("%4d%s %s %s", i+1, who, p.Accent(c.Tool), brief(c.Args))
		answer := "ok " + brief(c.Value)
		if !c.OK {
			answer = p.Warn(c.Code) + " " + c.Message
		}
		if c.Escalated {
			answer += p.Faint(" (somebody decides; approved here)")
		}
		if c.By != "" && c.By != "kernel" {
			answer += p.Faint(" (" + c.By + ")")
		}
		p.Line("     → %s", answer)
	}
	for _, v := range r.Emitted {
		p.Line("emitted %s", brief(v))
	}
	switch {
	case r.Failure != nil:
		p.Line("%s %s: %s", p.Bad("failed"), r.Failure.Code, r.Failure.Message)
	case r.Result != nil:
		p.Line("result %s", brief(r.Result))
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// brief is a value on a line.
func brief(v value.Raw) string {
	const most = 160
	if len(v) == 0 {
		return ""
	}
	text := []rune(compact(v))
	if len(text) > most {
		return string(text[:most-1]) + "…"
	}
	return string(text)
}
