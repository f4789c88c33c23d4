package tell

import "charm.land/lipgloss/v2"

// Style dresses words for a terminal. When it is not On, it leaves them as
// they are.
type Style struct{ On bool }

var (
	bold   = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	accent = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	good   = lipgloss.NewStyle().Foreground(lipgloss.Green)
	bad    = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)
	warn   = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
)

func (s Style) render(style lipgloss.Style, text string) string {
	if !s.On || text == "" {
		return text
	}
	return style.Render(text)
}

// Bold is for headings.
func (s Style) Bold(text string) string { return s.render(bold, text) }

// Faint is for what may be passed over.
func (s Style) Faint(text string) string { return s.render(faint, text) }

// Accent is for what to copy: commands and addresses.
func (s Style) Accent(text string) string { return s.render(accent, text) }

// Good is for what holds.
func (s Style) Good(text string) string { return s.render(good, text) }

// Bad is for what does not.
func (s Style) Bad(text string) string { return s.render(bad, text) }

// Warn is for what deserves a look.
func (s Style) Warn(text string) string { return s.render(warn, text) }
