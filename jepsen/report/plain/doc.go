// Package plain is how reports say things: texts that nodes and clients made, with
// nothing in them that a page or a terminal would obey, and numbers, times and
// durations for people.
//
// The page and the summary call it for everything that they show. What it never
// does: escape for HTML, which is the template's.
package plain
