package mcpclient

import (
	"errors"
	"net/http"
	"strconv"
)

// What tells the ways in which a call has no answer apart.
type What uint8

// The ways.
const (
	NotMade   What = iota // it certainly did not reach the tool
	Late                  // its context ended first
	Lost                  // the connection ended, and with it the answer
	Flooded               // the server sent more than it may
	Garbled               // what the server sent is no answer
	Refused               // the server answered with an error of the protocol, which Code says
	Status                // the server answered with an HTTP status that is none of success
	Forbidden             // the address is private, or redirects
)

// Failure is why a call has no answer, in our own words.
type Failure struct {
	What   What
	Text   string
	Status int   // of HTTP, when it is why
	Code   int64 // of the protocol's error
}

func (f *Failure) Error() string { return f.Text }

func failed(what What, text string) *Failure { return &Failure{What: what, Text: text} }

func statusFailure(status int, hadSession bool) *Failure {
	f := &Failure{What: Status, Status: status, Text: "the server answered with status " + strconv.Itoa(status)}
	switch {
	case status == http.StatusTooManyRequests:
		f.What = NotMade // it says that it did nothing (RFC 6585 section 4)
	case status == http.StatusNotFound && hadSession:
		f.What, f.Status, f.Text = NotMade, 0, "the server has forgotten the session"
	}
	return f
}

// Errors of what is between us and a server.
var (
	errFlood     = errors.New("the server sends too much")
	errRedirect  = errors.New("the server redirects")
	errUnwritten = errors.New("nothing was written")
)

const (
	textLost     = "the connection to the server ended before it answered: the call may or may not have happened"
	textFlooded  = "the server sent more than it may, and was let go of: the call may or may not have happened"
	textGarbled  = "what the server sent is no answer: the call may or may not have happened"
	textLate     = "the server did not answer in time"
	textGone     = "the connection to the server was gone"
	textPrivate  = "the address of the server is private, which its configuration does not allow"
	textRedirect = "the server redirects, which is not followed"
)
