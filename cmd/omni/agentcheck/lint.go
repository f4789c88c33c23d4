package agentcheck

import (
	"slices"
	"strings"

	"go.starlark.net/syntax"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
)

// lint looks at the program as it is written.
func (c *checker) lint() {
	if c.Define.Evaluator == script.Name {
		source, isText := c.Define.Program.Text()
		if !isText {
			given, _ := c.Define.Program.Get("source")
			source, _ = given.Text()
		}
		if file := scriptOf(source); file != nil {
			c.uses(scriptUses(file))
			c.scriptLoops(file)
		}
		return
	}
	program := c.Define.Program.ToGo()
	c.uses(stdUses(program))
	c.stdLoops(program)
}

func (c *checker) uses(uses []use) {
	for _, u := range uses {
		if c.knows(u) {
			c.granted(u)
		}
	}
}

// knows tells of a tool that there is not.
func (c *checker) knows(u use) bool {
	if _, builtIn := tools.Find(u.tool); builtIn || c.manifests[u.tool] != nil || !c.AllTools && c.Stubs[u.tool] != nil {
		return true
	}
	names := tools.Names()
	for name := range c.manifests {
		names = append(names, name)
	}
	slices.Sort(names)
	f := Finding{Severity: Error, Rule: RuleTool, Message: "there is no tool " + u.tool}
	nearest := agentfile.Nearest(u.tool, names)
	switch {
	case nearest != "":
		f.Hint = "did you mean " + nearest + "?"
	case c.AllTools:
		f.Hint = "omni tool list shows what is registered"
	default:
		f.Severity, f.Message = Warning, "the tool "+u.tool+" is not built in, and no manifest of it was given"
		f.Hint = "give its manifest's directory with --tools, ask a running cluster with --cluster, or say what it answers with --stub"
	}
	c.find(f, u.at)
	return nearest == ""
}

// granted tells of a use that the agent's grants never allow, by the kernel's patterns.
func (c *checker) granted(u use) {
	n := c.needOf(u)
	f := Finding{Severity: Error, Rule: RuleGrant}
	if n.exact {
		set, refused := permissions.Compile(c.Define.Grants)
		if refused != nil {
			return
		}
		switch verdict := set.Evaluate(n.action, n.resource, 0); {
		case verdict.Effect != permissions.Deny:
			return
		case verdict.Grant != permissions.DefaultDeny:
			f.Message = "a DENY forbids " + n.action + " on " + n.resource
		}
	} else {
		allowed, denied := c.meets(n)
		switch {
		case denied:
			f.Message = "a DENY forbids " + n.action + " on " + n.resource
		case allowed:
			return
		}
	}
	if f.Message == "" {
		f.Message = "no grant allows " + n.action + " on " + n.resource
		f.Hint = "add to grants: {effect: ALLOW, action: " + n.action + ", resource: " + quotedPattern(n.resource) + "}"
	}
	c.find(f, u.at)
}

// meets reports whether some ALLOW or ESCALATE speaks of a resource that the need may
// be judged as, and whether a DENY speaks of all of them.
func (c *checker) meets(n need) (allowed, denied bool) {
	for _, g := range c.Define.Grants {
		if !permissions.ContainsAction(g.Action, n.action) {
			continue
		}
		if g.Effect == permissions.Deny {
			denied = denied || permissions.ContainsResource(g.Resource, n.resource)
			continue
		}
		allowed = allowed || permissions.OverlapsResource(g.Resource, n.resource)
	}
	return allowed, denied
}

func quotedPattern(resource string) string {
	if strings.HasPrefix(resource, "*") {
		return `"` + resource + `"`
	}
	return resource
}

// functions are those that a script defines, by name.
func functions(file *syntax.File) map[string]*syntax.DefStmt {
	defs := make(map[string]*syntax.DefStmt)
	syntax.Walk(file, func(n syntax.Node) bool {
		if def, ok := n.(*syntax.DefStmt); ok {
			defs[def.Name.Name] = def
		}
		return true
	})
	return defs
}
