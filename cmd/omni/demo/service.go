package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// service is the greeting service that the agent's tool calls. It does a
// greeting once per Idempotency-Key, however often it is asked, and holds back
// its answer to one of them.
type service struct {
	URL string

	server *http.Server
	hold   string        // the name whose greeting is held back
	asked  chan struct{} // closed when that one has been asked for
	freed  chan struct{} // closed when it may be answered

	mu    sync.Mutex // guards calls
	calls map[string]*toolCall
}

// toolCall is what the service saw of one Idempotency-Key.
type toolCall struct {
	Name       string
	Deliveries int
}

// maxRequest bounds what the service reads.
const maxRequest = 4 << 10

func startService(hold string) (*service, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the greeting service: %w", err)
	}
	s := &service{
		URL: "http://" + l.Addr().String(), hold: hold,
		asked: make(chan struct{}), freed: make(chan struct{}), calls: make(map[string]*toolCall),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /greetings", s.greet)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	go func() { _ = s.server.Serve(l) }() // ends with stop
	return s, nil
}

func (s *service) stop() { _ = s.server.Close() }

func (s *service) greet(w http.ResponseWriter, r *http.Request) {
	var order struct{ Greeting, Name string }
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	key := r.Header.Get("Idempotency-Key")
	if err != nil || json.Unmarshal(body, &order) != nil || key == "" {
		http.Error(w, "a JSON body and an Idempotency-Key are needed", http.StatusBadRequest)
		return
	}
	if first := s.note(key, order.Name); first && order.Name == s.hold {
		close(s.asked)
		s.wait(r.Context())
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]string{"text": order.Greeting + ", " + order.Name})
}

// note counts a delivery, and says whether it is the key's first.
func (s *service) note(key, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	call, again := s.calls[key]
	if !again {
		call = &toolCall{Name: name}
		s.calls[key] = call
	}
	call.Deliveries++
	return !again
}

// wait holds an answer back until it is freed, or nobody waits for it any more.
func (s *service) wait(ctx context.Context) {
	select {
	case <-s.freed:
	case <-ctx.Done():
	}
}

func (s *service) free() { close(s.freed) }

// seen is what has been asked so far, by Idempotency-Key.
func (s *service) seen() map[string]toolCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]toolCall, len(s.calls))
	for key, call := range s.calls {
		out[key] = *call
	}
	return out
}
