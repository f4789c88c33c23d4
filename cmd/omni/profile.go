package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/hashicorp/go-hclog"
)

// configPath is where, beside Go's profiles, a node tells what it runs with.
const configPath = "/debug/config"

// serveProfiles answers Go's profiles, and what the node runs with, on an address of
// its own, apart from the API and without its clients' access. An empty address means none.
func serveProfiles(address string, runsWith shownConfig, logger hclog.Logger) error {
	if address == "" {
		return nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--pprof-addr: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc(configPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(runsWith) // whoever asked is gone
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		if err := server.Serve(listener); err != nil {
			logger.Warn("profiles are no longer served", "error", err)
		}
	}()
	logger.Info("serving profiles", "address", listener.Addr())
	return nil
}
