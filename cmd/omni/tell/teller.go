package tell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"charm.land/lipgloss/v2"
)

// Format of the output.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
)

// Teller writes a command's output. It is for one goroutine at a time.
type Teller struct {
	Format Format

	out, err           io.Writer
	outStyle, errStyle Style
}

// New makes a Teller for text. Each of the writers gets styles if it is a
// terminal and the environment does not object (NO_COLOR, TERM=dumb).
func New(stdout, stderr io.Writer) *Teller {
	return &Teller{
		Format: Text, out: stdout, err: stderr,
		outStyle: Style{isTerminal(stdout)}, errStyle: Style{isTerminal(stderr)},
	}
}

func isTerminal(w io.Writer) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isDevice(w)
}

// isDevice reports whether w is a terminal.
func isDevice(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// IsJSON reports whether the output is JSON.
func (t *Teller) IsJSON() bool { return t.Format == JSON }

// Data prints the answer of a command: v as one line of JSON, or what text
// writes. The error is the writer's.
func (t *Teller) Data(v any, text func(p *Page)) error {
	if t.IsJSON() {
		return t.line(v)
	}
	page := &Page{Style: t.outStyle}
	text(page)
	return t.print(t.out, t.outStyle, page.Bytes())
}

// Story prints a part of an answer that is told as it goes, on stdout. With -o
// json there is no story, only the answer at its end.
func (t *Teller) Story(text func(p *Page)) {
	if t.IsJSON() {
		return
	}
	page := &Page{Style: t.outStyle}
	text(page)
	// A reader that has gone does not keep the story from its end.
	_ = t.print(t.out, t.outStyle, page.Bytes())
}

// Raw is where bytes go that are neither text nor JSON, such as an export.
func (t *Teller) Raw() io.Writer { return t.out }

// RawIsTerminal reports whether a person would see those bytes.
func (t *Teller) RawIsTerminal() bool { return isDevice(t.out) }

func (t *Teller) line(v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	return t.write(t.out, Style{}, string(harmlessJSON(b.Bytes())))
}

// print writes text, and what is in it does nothing to a terminal.
func (t *Teller) print(w io.Writer, style Style, b []byte) error {
	return t.write(w, style, harmless(string(b), style.On))
}

func (t *Teller) write(w io.Writer, style Style, text string) error {
	var err error
	if style.On {
		// lipgloss knows how many colours the terminal has.
		_, err = lipgloss.Fprint(w, text)
	} else {
		_, err = io.WriteString(w, text)
	}
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// Say tells a person what is going on. With -o json nobody is told: stderr is
// kept for the error.
func (t *Teller) Say(format string, args ...any) {
	if t.IsJSON() {
		return
	}
	t.SayPage(func(p *Page) { p.Line(format, args...) })
}

// SayPage is Say for more than a line.
func (t *Teller) SayPage(text func(p *Page)) {
	if t.IsJSON() {
		return
	}
	page := &Page{Style: t.errStyle}
	text(page)
	// Nothing can be said about a stderr that cannot be written to.
	_ = t.print(t.err, t.errStyle, page.Bytes())
}
