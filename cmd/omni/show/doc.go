// Package show writes the API's answers as text for people. With -o json the
// answers are printed as they are, and this package is not asked.
//
// A command calls one function per kind of answer, with the Page of its Teller.
// What it never does: leave something out that a person would need to act; the
// whole is always in the JSON.
package show
