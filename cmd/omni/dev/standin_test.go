package dev

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests of this package are about processes, directories and ports. What
// stands in for `omni server` is this test binary: a process that takes the
// same flags and answers /readyz. Clusters of real nodes are tested in
// cmd/omni.
const behaviour = "OMNI_DEV_STANDIN"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		standIn(os.Args[2:])
		return
	}
	if dir := os.Getenv("OMNI_DEV_HOLD"); dir != "" {
		hold(dir)
		return
	}
	os.Exit(m.Run())
}

type list []string

func (l *list) String() string     { return fmt.Sprint(*l) }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

func standIn(args []string) {
	flags := flag.NewFlagSet("server", flag.ExitOnError)
	var peers list
	node := flags.String("node", "", "")
	api := flags.String("api-addr", "", "")
	flags.Var(&peers, "peer", "")
	for _, name := range []string{"cluster", "kernel", "data-dir", "raft-addr", "extra"} {
		flags.String(name, "", "")
	}
	if err := flags.Parse(args); err != nil {
		os.Exit(2)
	}
	fmt.Println(os.Args[1:])
	stop := make(chan os.Signal, 1)
	switch os.Getenv(behaviour) {
	case "fail":
		fmt.Fprintln(os.Stderr, "cannot go on:", *node, "has no", len(peers), "friends")
		os.Exit(1)
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	default:
		signal.Notify(stop, syscall.SIGTERM)
	}
	unready := strings.Fields(os.Getenv("OMNI_DEV_UNREADY"))
	held := strings.Fields(os.Getenv("OMNI_DEV_HELD"))
	server := &http.Server{Addr: *api, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/v1/cluster/status" && os.Getenv("OMNI_DEV_TOKEN") != "" && r.Header.Get("Authorization") != "Bearer "+os.Getenv("OMNI_DEV_TOKEN"):
			http.Error(w, "no credential", http.StatusUnauthorized)
		case r.URL.Path == "/v1/cluster/status":
			http.ServeFile(w, r, os.Getenv("OMNI_DEV_STATUS"))
		case slices.Contains(unready, *node):
			http.Error(w, "no leader yet", http.StatusServiceUnavailable)
		case slices.Contains(held, *node):
			http.Error(w, `{"status":"not_ready","reason":"SAFE_MODE: it crashed","node":"`+*node+
				`","safe_mode":{"index":7,"hint":"do this"}}`, http.StatusServiceUnavailable)
		}
	})}
	go func() {
		<-stop
		os.Exit(0)
	}()
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}

// hold starts a cluster and waits to be killed.
func hold(dir string) {
	c, err := Start(context.Background(), Options{DataDir: dir})
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println(c.Dir())
	time.Sleep(time.Minute)
}
