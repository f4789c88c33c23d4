package mcpclient

import (
	"encoding/json"
	"net/url"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Server says how a server is reached: by a program or by a URL.
type Server struct {
	Name string `json:"-"` // what the operator calls it; empty for one that a manifest names by its URL

	Command string            `json:"command,omitempty"` // a program, looked up in PATH
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"` // beside PATH, HOME and the like; a last word secret:NAME is replaced
	Dir     string            `json:"cwd,omitempty"` // where it runs; the node's own directory when empty

	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"` // a last word secret:NAME is replaced
	Private bool              `json:"private,omitempty"` // the URL may lead to addresses that are not public
}

// Key is the same for servers that are reached in the same way.
func (s *Server) Key() string {
	key, err := json.Marshal(struct {
		Name string
		*Server
	}{s.Name, s})
	if err != nil {
		panic("mcpclient: a server that does not encode: " + err.Error())
	}
	return string(key)
}

// Origin is whom a secret must be for to be told to the server: its URL's origin, or
// "mcp:NAME" for a program.
func (s *Server) Origin() string {
	if s.URL == "" {
		return "mcp:" + s.Name
	}
	at, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return at.Scheme + "://" + at.Host
}

// Options are a node's.
type Options struct {
	// Secrets resolves secret:NAME for an origin. Nil knows no secret.
	Secrets func(name, origin string) (string, bool)
	// Version is of this program, which servers are told.
	Version string
	// Logger is told what servers write on stderr, and when they come and go. Nil tells nobody.
	Logger hclog.Logger
}

// Bounds of what a server may do.
const (
	maxMessage      = 4 << 20          // bytes of one message, and of one HTTP answer
	maxUnasked      = 10_000           // messages that nobody asked for, between one answer and the next
	maxTools        = 1000             // in a list
	connectWithin   = 30 * time.Second // from its start to its first answer
	readsWithin     = 5 * time.Second  // how long it may leave unread what it is told
	maxSilent       = 3                // calls in a row that it lets run into their deadlines without a word
	endsWithin      = 2 * time.Second  // after stdin was closed, and again after SIGTERM
	firstPause      = 200 * time.Millisecond
	longestPause    = 10 * time.Second
	resumptions     = 2 // of an HTTP answer that broke off and can be gone on with
	initializeFirst = "2025-11-25"
)
