package client

import (
	"errors"
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/transport/api"
)

// Unknown says that a request was sent, and that no answer came which settles
// it: it may have taken effect, or may yet.
type Unknown struct {
	Op       string // what was asked for: "start", "kill" …
	Attempts int
	Cause    error // why the last attempt has no answer
}

// Error implements error. It does not unwrap: the cause may be a server's
// definite answer to one attempt, which says nothing of the others.
func (u *Unknown) Error() string {
	return u.Op + ": no answer after " + strconv.Itoa(u.Attempts) + " attempts: it may have taken effect: " + reason(u.Cause)
}

// Unreachable says that nobody could be asked: nothing took effect.
type Unreachable struct {
	Op      string
	Servers []string
	Cause   error // why the last one could not be
}

// Error implements error.
func (u *Unreachable) Error() string {
	return u.Op + ": none of " + strings.Join(u.Servers, ", ") + " could be asked: " + reason(u.Cause)
}

// Unwrap gives the cause.
func (u *Unreachable) Unwrap() error { return u.Cause }

// Usage says that the call makes no sense: nothing was sent.
type Usage struct{ Problem string }

// Error implements error.
func (u *Usage) Error() string { return u.Problem }

func reason(err error) string {
	if err == nil {
		return "no time was left"
	}
	return err.Error()
}

// Definite reports whether what failed with err did not take effect and will
// not.
func Definite(err error) bool {
	switch ExitOf(err) {
	case api.ExitRefused, api.ExitUsage, api.ExitUnreachable:
		return true
	}
	return false
}

// ExitOf is the exit code that belongs to err.
func ExitOf(err error) api.Exit {
	var (
		usage       *Usage
		unknown     *Unknown
		unreachable *Unreachable
		said        *api.Error
	)
	switch {
	case err == nil:
		return api.ExitDone
	case errors.As(err, &unknown):
		return api.ExitUnknown
	case errors.As(err, &said):
		return api.ExitOf(said)
	case errors.As(err, &unreachable):
		return api.ExitUnreachable
	case errors.As(err, &usage):
		return api.ExitUsage
	}
	return api.ExitUnknown
}
