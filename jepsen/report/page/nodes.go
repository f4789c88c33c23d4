package page

import (
	"fmt"
	"slices"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/report/plain"
)

const (
	nodeHeight = 24
	maxNodes   = 32
	maxTurns   = 3000 // of one node's lane
)

// state is what a node was for a while.
type state struct {
	from, to int64
	what     string // up, starting, paused, leader, silent
	title    string
	text     string
}

// nodes draws a lane for each: whether its process ran, and when it led.
func (c *chart) nodes(p *Page, t *counts, top int) int {
	names := nodesOf(p)
	if len(names) == 0 {
		return top
	}
	top = c.head("nodes", top)
	lives, sights := make(map[string][]history.Life), make(map[string][]history.Sight)
	for _, l := range p.History.Lives {
		lives[l.Node] = append(lives[l.Node], l)
	}
	for _, s := range p.History.Sights {
		sights[s.Node] = append(sights[s.Node], s)
	}
	for _, name := range names {
		middle := top + nodeHeight/2
		c.name(plain.Text(name, 60), middle)
		c.Lines = append(c.Lines, line{Y: middle, Mark: "axle"})
		c.lane(runs(lives[name], t), t, middle)
		c.lane(silences(sights[name], t), t, middle)
		c.lane(terms(sights[name], lives[name], t), t, middle)
		c.deaths(lives[name], t, middle)
		top += nodeHeight
	}
	return top
}

// nodesOf is the cluster's nodes, and whoever else was seen.
func nodesOf(p *Page) []string {
	names := slices.Clone(p.Nodes)
	add := func(name string) {
		if len(names) < maxNodes && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range p.History.Lives {
		add(p.History.Lives[i].Node)
	}
	for i := range p.History.Sights {
		add(p.History.Sights[i].Node)
	}
	return names[:min(len(names), maxNodes)]
}

// heights is how much of a lane each state takes: they differ by shape too.
var heights = map[string]int{"up": 6, "starting": 6, "paused": 12, "leader": 16, "silent": 2}

func (c *chart) lane(states []state, t *counts, middle int) {
	for _, s := range states[:min(len(states), maxTurns)] {
		from, to := t.part(s.from), t.part(s.to)
		height := heights[s.what]
		y := middle - height/2
		if s.what == "silent" {
			y = middle + 9
		}
		c.Boxes = append(c.Boxes, box{X: percent(from), Width: percent(max(0, to-from)), Y: y, Height: height, Mark: s.what, Title: s.title})
		if s.text == "" {
			continue
		}
		if need, ever := seenFrom(to-from, 6*len([]rune(s.text))+8); ever {
			c.Labels = append(c.Labels, label{X: percent(from), Y: middle + 4, Text: s.text, Mark: "in" + s.what + need})
		}
	}
}

// becomes is what a node is after a turn in its life; nothing while its process
// is gone.
var becomes = map[string]string{"started": "starting", "ready": "up", "resumed": "up", "paused": "paused"}

// runs is when a node's process was there.
func runs(lives []history.Life, t *counts) []state {
	var all []state
	for i, l := range lives {
		what := becomes[l.What]
		if what == "" {
			continue
		}
		end := t.span()
		if i+1 < len(lives) {
			end = lives[i+1].At
		}
		s := state{from: l.At, to: end, what: what, title: fmt.Sprintf("%s %s, from %s to %s", plain.Text(l.Node, 60), what, plain.Clock(l.At), plain.Clock(end))}
		if what == "paused" {
			s.text = "paused"
		}
		all = append(all, s)
	}
	return all
}

// silences is when a node did not answer.
func silences(sights []history.Sight, t *counts) []state {
	var all []state
	for i := 0; i < len(sights); i++ {
		if !sights[i].Silent {
			continue
		}
		from := i
		for i+1 < len(sights) && sights[i+1].Silent {
			i++
		}
		end := t.span()
		if i+1 < len(sights) {
			end = sights[i+1].At
		}
		all = append(all, state{
			from: sights[from].At, to: end, what: "silent",
			title: fmt.Sprintf("%s does not answer, from %s to %s", plain.Text(sights[from].Node, 60), plain.Clock(sights[from].At), plain.Clock(end)),
		})
	}
	return all
}

// terms is when a node said that it leads, until it said otherwise or its process
// went.
func terms(sights []history.Sight, lives []history.Life, t *counts) []state {
	var all []state
	for i := range sights {
		s := &sights[i]
		if s.Role != "leader" || s.Silent {
			continue
		}
		end := t.span()
		if i+1 < len(sights) {
			end = sights[i+1].At
		}
		for _, l := range lives {
			if l.At > s.At && l.At < end && (becomes[l.What] == "" || becomes[l.What] == "starting") {
				end = l.At
				break
			}
		}
		text := fmt.Sprintf("leader, term %d", s.Term)
		if last := len(all) - 1; last >= 0 && all[last].text == text && all[last].to == s.At {
			all[last].to = end
		} else {
			all = append(all, state{from: s.At, to: end, what: "leader", text: text})
		}
	}
	for i := range all {
		all[i].title = fmt.Sprintf("%s, from %s to %s", all[i].text, plain.Clock(all[i].from), plain.Clock(all[i].to))
	}
	return all
}

// deaths marks where a process went, and whether somebody wanted it to.
func (c *chart) deaths(lives []history.Life, t *counts, middle int) {
	for _, l := range lives[:min(len(lives), maxTurns)] {
		if becomes[l.What] != "" {
			continue
		}
		d := label{X: percent(t.part(l.At)), Y: middle + 4, Text: "×", Mark: "death", Title: fmt.Sprintf("%s %s at %s", plain.Text(l.Node, 60), plain.Text(l.What, 30), plain.Clock(l.At))}
		if !l.Wanted {
			d.Text, d.Mark = "✗ by itself", "death unwanted"
			d.Title += ", and nobody wanted it: " + plain.Text(l.Detail, 200)
		}
		c.Labels = append(c.Labels, d)
	}
}
