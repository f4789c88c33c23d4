package agentcheck

import (
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/permissions"
)

// judged adds what the dry run shows to the findings.
func (d *driver) judged() {
	c := d.c
	for _, e := range d.trace.denied {
		f := Finding{Severity: Warning, Rule: RuleGrant, Message: "in the dry run no grant allowed " + e.Action + " on " + e.Resource}
		f.Hint = "add to grants: {effect: ALLOW, action: " + e.Action + ", resource: " + quotedPattern(e.Resource) + "}"
		switch {
		case e.Grant != permissions.DefaultDeny:
			f.Message, f.Hint = "in the dry run a DENY forbade "+e.Action+" on "+e.Resource, ""
		case e.Level != 0:
			f.Message, f.Hint = "in the dry run "+e.Action+" on "+e.Resource+" was more than an agent above may do", ""
		}
		if !c.deniedAlready(e) {
			c.find(f, where{field: "grants"})
		}
	}
	for i := range c.report.Run.Calls {
		c.answeredBadly(&c.report.Run.Calls[i])
	}
	if failed := d.trace.failure; failed != nil {
		at := where{field: "program"}
		if c.Define.Evaluator == script.Name {
			at.line, at.column = int(d.trace.line), int(d.trace.column)
		}
		c.find(Finding{
			Severity: Error, Rule: RuleRun, Message: "in the dry run it failed: " + failed.Code + ": " + failed.Message,
			Hint: "what tools answer is given with --stub and --stubs, what it begins with with --input",
		}, at)
	}
	if stopped := d.trace.stopped; stopped != "" {
		c.find(Finding{Severity: Warning, Rule: RuleRun, Message: "the dry run was ended: " + stopped}, where{})
	}
}

// deniedAlready reports whether the program's own text told of it.
func (c *checker) deniedAlready(e permissions.Evaluation) bool {
	for _, f := range c.report.Findings {
		if f.Rule == RuleGrant && f.Severity == Error && f.Message == "no grant allows "+e.Action+" on "+e.Resource {
			return true
		}
	}
	return false
}

// answeredBadly tells of calls whose stub, or whose arguments, are not what the tool's
// schemas say.
func (c *checker) answeredBadly(call *Call) {
	f := Finding{Severity: Error, Rule: RuleStub}
	switch failure.Code(call.Code) {
	case failure.ToolArgsInvalid:
		f.Rule, f.Message = RuleRun, "a call of "+call.Tool+" does not fit its input schema: "+call.Message
	case failure.ToolResultInvalid, failure.ToolResultTooLarge:
		if call.By != byStub {
			return
		}
		f.Message = "a stub of " + call.Tool + " does not fit its output schema: " + call.Message
	case failure.ToolFailed:
		if call.By != byDefault {
			return
		}
		f.Severity, f.Message, f.Hint = Warning, call.Tool+": "+call.Message, "--stub "+call.Tool+"=JSON"
	default:
		return
	}
	c.find(f, where{})
}
