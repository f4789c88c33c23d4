package tell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cmd/omni/agentfile"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

func teller(format Format) (t *Teller, stdout, stderr *bytes.Buffer) {
	stdout, stderr = new(bytes.Buffer), new(bytes.Buffer)
	t = New(stdout, stderr)
	t.Format = format
	return t, stdout, stderr
}

type answer struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

func TestDataGoesToStdoutAndTalkToStderr(t *testing.T) {
	tell, stdout, stderr := teller(Text)
	tell.Say("%d to go", 3)
	tell.Story(func(p *Page) { p.Line("once") })
	require.NoError(t, tell.Data(answer{}, func(p *Page) { p.Line("the answer") }))
	assert.Equal(t, "once\nthe answer\n", stdout.String())
	assert.Equal(t, "3 to go\n", stderr.String())
}

// With JSON there is one document a line on stdout and nothing else.
func TestJSONIsOneLineAndNoTalk(t *testing.T) {
	tell, stdout, stderr := teller(JSON)
	tell.Say("%d to go", 3)
	tell.Story(func(p *Page) { p.Line("once") })
	require.NoError(t, tell.Data(answer{"a", "http://x/?a=1&b=<2>"}, nil))
	assert.Equal(t, `{"name":"a","url":"http://x/?a=1&b=<2>"}`+"\n", stdout.String())
	assert.Empty(t, stderr.String())
	assert.ErrorContains(t, tell.Data(func() {}, nil), "encode the answer")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAnAnswerThatCannotBeWrittenIsAnError(t *testing.T) {
	tell := New(full{}, full{})
	assert.ErrorContains(t, tell.Data(1, func(p *Page) { p.Line("x") }), "write the answer: disk full")
	tell.Say("nobody hears this")
}

func TestOnlyTerminalsGetStyles(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()

	assert.True(t, New(terminal, file).outStyle.On)
	assert.True(t, New(terminal, file).RawIsTerminal())
	assert.False(t, New(terminal, file).errStyle.On)
	assert.False(t, New(null, null).outStyle.On)
	assert.False(t, New(new(bytes.Buffer), null).outStyle.On)
	t.Setenv("NO_COLOR", "1")
	assert.False(t, New(terminal, file).outStyle.On)
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "dumb")
	assert.False(t, New(terminal, file).outStyle.On)
}

func TestStylesDressWordsAndKeepWidths(t *testing.T) {
	plain, dressed := Style{}, Style{On: true}
	for name, style := range map[string]func(Style, string) string{
		"bold": Style.Bold, "faint": Style.Faint, "accent": Style.Accent, "good": Style.Good, "bad": Style.Bad, "warn": Style.Warn,
	} {
		assert.Equal(t, "word", style(plain, "word"), name)
		assert.Contains(t, style(dressed, "word"), "\x1b[", name)
	}
	page := &Page{Style: dressed}
	page.Table([]string{"A", "B"}, [][]string{{dressed.Good("ok"), "1"}, {"longer", "2"}})
	assert.Contains(t, page.String(), dressed.Good("ok")+"      1\n")
}

func TestTablesAndFieldsAreAligned(t *testing.T) {
	page := new(Page)
	page.Table([]string{"NAME", "N", "WHY"}, [][]string{{"a", "100", ""}, {"größer", "2", "because"}})
	page.Fields([2]string{"id", "x"}, [2]string{"missing", ""}, [2]string{"failure", "one\ntwo"})
	assert.Equal(t, "NAME    N    WHY\na       100\ngrößer  2    because\n"+
		"id       x\nfailure  one\n         two\n", page.String())
}

// Every kind of error has its exit code, and says whether it happened (CL-2).
func TestErrorsHaveExitCodes(t *testing.T) {
	refused := &api.Error{Code: "INVALID_TRANSITION", Definite: true, Message: "not now", Hint: "look", State: "ACTIVE", Index: 7}
	for name, c := range map[string]struct {
		err  error
		want Report
	}{
		"refused":      {refused, Report{Code: "INVALID_TRANSITION", Definite: true, Message: "not now", Hint: "look", State: "ACTIVE", Index: 7, Exit: 1}},
		"wrapped":      {fmt.Errorf("round 3: %w", refused), Report{Code: "INVALID_TRANSITION", Definite: true, Message: "not now", Hint: "look", State: "ACTIVE", Index: 7, Exit: 1}},
		"said unknown": {&api.Error{Code: "LEADERSHIP_LOST", Message: "gone"}, Report{Code: "LEADERSHIP_LOST", Message: "gone", Exit: 3}},
		"inferred unknown": {&client.Unknown{Op: "kill", Attempts: 2}, Report{Code: "OUTCOME_UNKNOWN",
			Message: (&client.Unknown{Op: "kill", Attempts: 2}).Error(), Hint: "look before you do it again: omni agent get, omni agent list", Exit: 3}},
		"unreachable": {&client.Unreachable{Op: "list", Servers: []string{"a"}}, Report{Code: "UNREACHABLE", Definite: true,
			Message: (&client.Unreachable{Op: "list", Servers: []string{"a"}}).Error(), Hint: "is a cluster running? Start one with omni dev, or name its nodes with --server", Exit: 4}},
		"client usage": {&client.Usage{Problem: "no server"}, Report{Code: "USAGE", Definite: true, Message: "no server", Exit: 2}},
		"own usage":    {Usage("do this", "%d is too many", 9), Report{Code: "USAGE", Definite: true, Message: "9 is too many", Hint: "do this", Exit: 2}},
		"not held":     {NotHeld("%d lost", 1), Report{Code: "CHECK_FAILED", Definite: true, Message: "1 lost", Exit: 1}},
		"file": {&agentfile.Problem{File: "a.yaml", Line: 2, Column: 3, Field: "name", Rule: "must be text", Hint: "quote it"},
			Report{Code: "INVALID_FILE", Definite: true, Message: "a.yaml:2:3: name: must be text", Field: "name", Rule: "must be text",
				Hint: "quote it", File: "a.yaml", Line: 2, Column: 3, Exit: 2}},
		"refused in a file": {&InFile{Err: &api.Error{Code: "INVALID_PROGRAM", Definite: true, Message: "no"}, File: "a.yaml", Line: 4, Column: 5},
			Report{Code: "INVALID_PROGRAM", Definite: true, Message: "no", File: "a.yaml", Line: 4, Column: 5, Exit: 1}},
		"dev cluster": {&dev.Problem{Rule: "port is busy", Hint: "another"}, Report{Code: "REFUSED", Definite: true, Message: "port is busy", Hint: "another", Exit: 1}},
		"interrupted": {fmt.Errorf("wait: %w", context.Canceled), Report{Code: "INTERRUPTED", Definite: true, Message: "interrupted", Exit: 1}},
		"anything":    {errors.New("odd"), Report{Code: "REFUSED", Definite: true, Message: "odd", Exit: 1}},
	} {
		assert.Equal(t, c.want, ReportOf(c.err), name)
		tell, stdout, stderr := teller(JSON)
		assert.Equal(t, c.want.Exit, tell.Fail(c.err), name)
		assert.Empty(t, stdout.String(), name)
		assert.Contains(t, stderr.String(), fmt.Sprintf(`"exit":%d}`, c.want.Exit), name)
	}
	tell, stdout, stderr := teller(Text)
	assert.Equal(t, api.ExitDone, tell.Fail(nil))
	assert.Empty(t, stdout.String()+stderr.String())
}

func TestErrorsAreSentencesWithPlaceAndHint(t *testing.T) {
	for want, err := range map[string]error{
		"error: NOT_FOUND: agent: no agent has this id\n hint: look\n": &api.Error{
			Code: "NOT_FOUND", Definite: true, Message: "agent: no agent has this id", Field: "agent", Rule: "no agent has this id", Hint: "look"},
		"error: INVALID_VALUE: input.a: the value is wrong: the key is repeated\n": &api.Error{
			Code: "INVALID_VALUE", Definite: true, Message: "the value is wrong", Field: "input.a", Rule: "the key is repeated"},
		"error: a.yaml:4:5: INVALID_PROGRAM: no\n": &InFile{
			Err: &api.Error{Code: "INVALID_PROGRAM", Definite: true, Message: "no"}, File: "a.yaml", Line: 4, Column: 5},
		"error: a.yaml:2:3: name: must be text\n":                             &agentfile.Problem{File: "a.yaml", Line: 2, Column: 3, Field: "name", Rule: "must be text"},
		"error: TIMEOUT: late\n note: it may have taken effect, or may yet\n": &api.Error{Code: "TIMEOUT", Message: "late"},
		"error: 1 lost\n": NotHeld("1 lost"),
	} {
		tell, _, stderr := teller(Text)
		tell.Fail(err)
		assert.Equal(t, want, stderr.String())
	}
}

// Progress is for people at a terminal: nobody else is told, and it leaves nothing
// behind.
func TestProgressIsForTerminals(t *testing.T) {
	tell, stdout, stderr := teller(Text)
	line := tell.Progress()
	line.Show("%d %%", 10)
	line.Done()
	assert.Empty(t, stdout.String()+stderr.String())

	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	for format, shown := range map[Format]bool{Text: true, JSON: false} {
		tell := New(new(bytes.Buffer), terminal)
		tell.Format = format
		line := tell.Progress()
		line.Show("%d %%", 10)
		assert.Equal(t, shown, line.shown, format)
		first := line.last
		line.Show("%d %%", 11)
		assert.Equal(t, first, line.last, "not more often than anybody can read")
		line.Done()
		assert.False(t, line.shown)
	}
}
