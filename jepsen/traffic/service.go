package traffic

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/history"
	"github.com/omnikernel/omnikernel/jepsen/model"
)

// Fates are the chances, from 0 to 1, of what the counting service does with a
// request after it has counted it.
type Fates struct {
	Drop float64       // it closes the connection without a word
	Late float64       // it answers later, by up to Lag
	Lag  time.Duration // 3 s if zero: longer than calls wait
}

// Service is a tool outside of the cluster that must not be called twice: it counts
// every request, under the call's own key, and tells in its answer the how many-th
// it was. Whatever it does, it has done.
type Service struct {
	url    string
	record *history.Recorder
	server *http.Server
	ended  context.CancelFunc

	mu    sync.Mutex // guards what follows
	fates Fates
	dice  *rand.Rand
	hits  int64
}

// NewService serves at a listener, which it closes in the end. The dice are the
// seed's.
func NewService(l net.Listener, record *history.Recorder, seed uint64) *Service {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Service{
		url: "http://" + l.Addr().String(), record: record, ended: cancel,
		dice: rand.New(rand.NewPCG(seed, 0x73657276696365)),
	}
	s.server = &http.Server{
		Handler: http.HandlerFunc(s.serve), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { _ = s.server.Serve(l) }() // ends with Close
	return s
}

// URL is the base URL: an Env's Service.
func (s *Service) URL() string { return s.url }

// Set says what becomes of requests from now on.
func (s *Service) Set(f Fates) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fates = f
}

// Hits is how many requests there were.
func (s *Service) Hits() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hits
}

// Close ends the service: nothing is recorded after it.
func (s *Service) Close() {
	s.ended()
	_ = s.server.Close() // what it says of the listener helps nobody
}

// maxErrand bounds what is read of a request.
const maxErrand = 64 << 10

// serve counts a request: POST /SITE.
func (s *Service) serve(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, http.MaxBytesReader(w, r.Body, maxErrand)); err != nil {
		return // not all of it came: it was not asked
	}
	hit, wait := s.count(strings.TrimPrefix(r.URL.Path, "/"), r.Header.Get("Idempotency-Key"))
	if hit.Fate == model.FateDropped {
		panic(http.ErrAbortHandler) // closes the connection
	}
	if wait > 0 {
		pause(r.Context(), wait)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Omni-Usage", "tokens="+strconv.FormatUint(model.UsageOf(hit.Key), 10))
	_ = json.NewEncoder(w).Encode(model.ServiceAnswer{N: hit.N, Name: hit.Name, Key: hit.Key}) // who does not listen is not told
}

// count records a request and throws the dice for it.
func (s *Service) count(name, key string) (hit history.Hit, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hits++
	hit = history.Hit{Key: key, Name: name, Fate: model.FateAnswered, N: s.hits}
	switch n := s.dice.Float64(); {
	case n < s.fates.Drop:
		hit.Fate = model.FateDropped
	case n < s.fates.Drop+s.fates.Late:
		hit.Fate = model.FateLate
		lag := s.fates.Lag
		if lag <= 0 {
			lag = 3 * time.Second
		}
		wait = time.Duration(1 + s.dice.Int64N(int64(lag)))
	}
	s.record.Hit(hit)
	return hit, wait
}
