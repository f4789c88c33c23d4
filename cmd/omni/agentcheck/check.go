package agentcheck

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools/schema"
	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// Subject is what is checked, and with what.
type Subject struct {
	File   *agentfile.File
	Define event.Define
	Input  value.Raw // of the dry run; one is made from the definition's schema when empty

	Tools    []*tools.Manifest // registered tools that there are
	AllTools bool              // … and there are no others
	Stubs    Stubs             // what tools answer
	Messages []value.Raw       // in the agent's mailbox when it begins
	NoRun    bool              // compile and look only
}

// checker collects the findings of one check.
type checker struct {
	Subject
	manifests map[string]*tools.Manifest
	report    Report
	said      map[string]bool
}

// Check checks an agent. The context ends a dry run that takes too long.
func Check(ctx context.Context, s Subject) *Report {
	c := &checker{Subject: s, manifests: make(map[string]*tools.Manifest), said: make(map[string]bool)}
	c.report = Report{File: s.File.Name, Findings: []Finding{}}
	for _, m := range s.Tools {
		c.manifests[m.Name] = m
	}
	if c.compiles() {
		c.lint()
		if !s.NoRun {
			c.run(ctx)
		}
	}
	slices.SortStableFunc(c.report.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Column, b.Column))
	})
	c.report.OK = !slices.ContainsFunc(c.report.Findings, func(f Finding) bool { return f.Severity == Error })
	return &c.report
}

// place orders findings by line; those without one come last.
func place(f Finding) int {
	if f.Line == 0 {
		return 1 << 30
	}
	return f.Line
}

// find adds a finding, once.
func (c *checker) find(f Finding, at where) {
	f.Field, f.Line, f.Column = at.in(c.File)
	key := strings.Join([]string{f.Rule, f.Message, strconv.Itoa(f.Line)}, "\x00")
	if !c.said[key] {
		c.said[key] = true
		c.report.Findings = append(c.report.Findings, f)
	}
}

// where is a place in an agent: a field of its file, and a line and column of the
// script if the field is one.
type where struct {
	field        string
	line, column int
}

func (w where) in(f *agentfile.File) (field string, line, column int) {
	if w.field == "program" && f.Has("script") {
		w.field = "script"
	}
	if line, column, ok := f.InText(w.field, w.line, w.column); ok {
		return w.field, line, column
	}
	if line, column, ok := f.At(w.field); ok {
		return w.field, line, column
	}
	return w.field, 0, 0
}

// scriptPlace is how what is said of a script begins: file:line:column.
var scriptPlace = regexp.MustCompile(`^\S+?:(\d+):(\d+): `)

// compiles holds the definition to everything that the door and the kernel hold it to.
func (c *checker) compiles() bool {
	refusals := []*failure.Refusal{
		flows.CheckDefine(&c.Define, ""), flows.CheckCompiles(&c.Define, "", registry.Lookup),
	}
	compiled, broken := schema.Of(c.Define.Input, "input")
	for _, r := range append(refusals, broken) {
		if r == nil {
			continue
		}
		at := where{field: r.Field}
		if found := scriptPlace.FindStringSubmatch(r.Rule); found != nil {
			at.line, _ = strconv.Atoi(found[1])
			at.column, _ = strconv.Atoi(found[2])
		}
		c.find(Finding{Severity: Error, Rule: RuleCompile, Message: string(r.Code) + ": " + r.Rule, Hint: r.Hint}, at)
	}
	if len(c.Define.Program) == 0 {
		c.find(Finding{Severity: Error, Rule: RuleCompile, Message: "the agent has no program", Hint: "give it a program or a script"}, where{})
	}
	if len(c.report.Findings) > 0 {
		return false
	}
	c.checkInput(compiled)
	return true
}

// checkInput holds the input of the dry run to the definition's schema, as the door
// would, or makes one that fits.
func (c *checker) checkInput(compiled *schema.Schema) {
	if len(c.Input) == 0 && len(c.Define.Input) > 0 {
		made, ok := sample(c.Define.Input)
		if !ok {
			c.find(Finding{Severity: Warning, Rule: RuleInput, Message: "no input that fits the schema was found: the dry run begins with null", Hint: "give one with --input"}, where{field: "input"})
			return
		}
		c.Input = made
		return
	}
	input := c.Input
	if len(input) == 0 {
		input = value.Null
	}
	if path, rule := compiled.Broken(input); rule != "" {
		c.find(Finding{Severity: Error, Rule: RuleInput, Message: "the input does not fit the schema: " + value.JoinKey("input", path) + ": " + rule}, where{field: "input"})
	}
}
