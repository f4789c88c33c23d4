package agentfile

import "strconv"

// Problem is why a file was not accepted. Line and Column count from 1; both
// are 0 when the problem has no place. Field is a path such as
// "program.payload.steps[2].kind", empty for the document itself.
type Problem struct {
	File   string
	Line   int
	Column int
	Field  string
	Rule   string
	Hint   string
}

// Error is "agent.yaml:3:7: labels.team: must be text".
func (p *Problem) Error() string {
	text := p.File
	if p.Line > 0 {
		text += ":" + strconv.Itoa(p.Line)
	}
	if p.Line > 0 && p.Column > 0 {
		text += ":" + strconv.Itoa(p.Column)
	}
	text += ": "
	if p.Field != "" {
		text += p.Field + ": "
	}
	return text + p.Rule
}
