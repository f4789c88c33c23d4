package wire

// Links are some links, such as those that a partition cuts.
type Links []Link

// With gives each of the links the same policy.
func (l Links) With(p Policy) Rules {
	rules := make(Rules, len(l))
	for _, link := range l {
		rules[link] = p
	}
	return rules
}

// Cut cuts each of the links.
func (l Links) Cut() Rules { return l.With(Policy{Cut: true}) }

// All are the links between hosts, in both directions.
func All(hosts []string) Links {
	return between(hosts, func(int, int) bool { return true })
}

// OneWay are the links from each of some hosts to each of others, and not back.
func OneWay(from, to []string) Links {
	var links Links
	for _, f := range from {
		for _, t := range to {
			if f != t {
				links = append(links, Link{f, t})
			}
		}
	}
	return links
}

// Isolate are the links between one host and all others, in both directions.
func Isolate(hosts []string, one string) Links {
	return between(hosts, func(i, j int) bool { return hosts[i] == one || hosts[j] == one })
}

// Mute are the links from one host to all others: it hears, and nobody hears it.
func Mute(hosts []string, one string) Links {
	return between(hosts, func(i, _ int) bool { return hosts[i] == one })
}

// Deaf are the links to one host from all others: it is heard, and hears nobody.
func Deaf(hosts []string, one string) Links {
	return between(hosts, func(_, j int) bool { return hosts[j] == one })
}

// Halves are the links between the first hosts, a bare majority, and the rest, in
// both directions. Who wants other halves gives the hosts in another order.
func Halves(hosts []string) Links {
	m := majority(hosts)
	return between(hosts, func(i, j int) bool { return (i < m) != (j < m) })
}

// Bridge are the links between two halves that share one host, the one in the
// middle: it is connected with all, and nobody else across.
func Bridge(hosts []string) Links {
	middle := len(hosts) / 2
	return between(hosts, func(i, j int) bool { return (i < middle && j > middle) || (j < middle && i > middle) })
}

// Ring leaves each host a majority that it hears, itself included, and no two the
// same one: the hosts stand in a circle, and each hears those around it. With an
// odd majority that is both ways; of three hosts, each hears only the one before
// it.
func Ring(hosts []string) Links {
	n, m := len(hosts), majority(hosts)
	return between(hosts, func(i, j int) bool {
		first := j - m/2 + n // the first that j hears
		return (i-first+2*n)%n >= m
	})
}

func majority(hosts []string) int { return len(hosts)/2 + 1 }

// between are the links between hosts, from the i-th to the j-th, that are chosen.
func between(hosts []string, chosen func(i, j int) bool) Links {
	var links Links
	for i := range hosts {
		for j := range hosts {
			if i != j && chosen(i, j) {
				links = append(links, Link{hosts[i], hosts[j]})
			}
		}
	}
	return links
}
