// Package interning keeps bodies that many agents share — programs, grants,
// labels, environments — once, by digest, with a count of their users
// (mechanics: "Tables"). A row holds a number. Numbers are never reused; a
// body whose last user is gone is dropped. Compiled forms are no part of
// this: they are caches, kept by who compiles.
package interning
