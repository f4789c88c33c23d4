package tell

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// screen is a terminal as far as a Canvas uses one: what its control sequences leave
// to be seen. Lines that are too wide wrap.
type screen struct {
	t        *testing.T
	width    int
	rows     []string
	row, col int
}

var control = regexp.MustCompile(`^\x1b\[(\??)([0-9]*)([A-Za-z])`)

func (s *screen) Write(b []byte) (int, error) {
	for rest := string(b); rest != ""; {
		if found := control.FindStringSubmatch(rest); found != nil {
			rest = rest[len(found[0]):]
			if found[1] == "" {
				s.obey(found[3], found[2])
			}
			continue
		}
		r := []rune(rest)[0]
		rest = rest[len(string(r)):]
		s.put(r)
	}
	return len(b), nil
}

func (s *screen) obey(command, number string) {
	n, _ := strconv.Atoi(number)
	switch command {
	case "A":
		require.LessOrEqual(s.t, n, s.row, "above the first row")
		s.row -= n
	case "K":
		s.line()
		s.rows[s.row] = string([]rune(s.rows[s.row])[:min(s.col, len([]rune(s.rows[s.row])))])
	case "J":
		s.obey("K", "")
		s.rows = s.rows[:s.row+1]
	default:
		require.Equal(s.t, "m", command)
	}
}

func (s *screen) put(r rune) {
	switch r {
	case '\r':
		s.col = 0
		return
	case '\n':
		s.row, s.col = s.row+1, 0
		s.line()
		return
	}
	if s.col == s.width {
		s.row, s.col = s.row+1, 0
	}
	s.line()
	text := []rune(s.rows[s.row] + strings.Repeat(" ", s.width))
	text[s.col] = r
	s.rows[s.row] = strings.TrimRight(string(text), " ")
	s.col++
}

func (s *screen) line() {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, "")
	}
}

func (s *screen) shows() string { return strings.TrimRight(strings.Join(s.rows, "\n"), "\n") }

// Each frame takes the place of the one before, in one write, and nothing of that is
// left; also after the terminal was made narrower, which wraps what stands there.
func TestCanvasReplacesFrames(t *testing.T) {
	s := &screen{t: t, width: 40}
	_, _ = s.Write([]byte("$ omni run watch\n"))
	writes := 0
	c := &Canvas{teller: New(writer(func(b []byte) (int, error) { writes++; return s.Write(b) }), new(bytes.Buffer)), size: func() (int, int) { return s.width, 10 }}
	for _, frame := range [][]string{
		{"one", "a line that is thirty columns", "three"}, {"1", "2"}, {"", "only the second"}, {"first", "second", "third", "fourth"}, {"a line that is thirty columns", "last"},
	} {
		require.NoError(t, c.Draw(frame))
		assert.Equal(t, strings.TrimRight("$ omni run watch\n"+strings.Join(frame, "\n"), "\n"), s.shows())
	}
	assert.Equal(t, 5, writes)

	narrow := &screen{t: t, width: 20}
	_, _ = narrow.Write([]byte(s.shows() + "\n"))
	*s = *narrow
	columns, rows := c.Size()
	assert.Equal(t, [2]int{19, 9}, [2]int{columns, rows})
	require.NoError(t, c.Draw([]string{"narrow", "now"}))
	assert.Equal(t, "$ omni run watch\nnarrow\nnow", s.shows())
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// Only a terminal is drawn on, and one that cannot move its cursor is not.
func TestCanvasIsForTerminals(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	t.Setenv("TERM", "xterm")
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	c, ok := New(terminal, terminal).Canvas()
	require.True(t, ok)
	assert.False(t, c.On, "it is drawn on without colours")
	columns, rows := c.Size()
	assert.Equal(t, [2]int{79, 23}, [2]int{columns, rows}, "this one does not say its size")
	_, ok = New(new(bytes.Buffer), terminal).Canvas()
	assert.False(t, ok)
	json := New(terminal, terminal)
	json.Format = JSON
	_, ok = json.Canvas()
	assert.False(t, ok)
	t.Setenv("TERM", "dumb")
	_, ok = New(terminal, terminal).Canvas()
	assert.False(t, ok)
}

func TestUnicode(t *testing.T) {
	for _, c := range []struct {
		all, ctype, lang string
		want             bool
	}{{"", "", "", true}, {"C", "", "de_DE.UTF-8", false}, {"", "", "C.UTF-8", true}, {"", "en_US.utf8", "C", true}, {"", "", "POSIX", false}} {
		t.Setenv("LC_ALL", c.all)
		t.Setenv("LC_CTYPE", c.ctype)
		t.Setenv("LANG", c.lang)
		assert.Equal(t, c.want, Unicode(), c)
	}
}
