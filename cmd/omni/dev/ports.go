package dev

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"syscall"
)

const (
	host    = "127.0.0.1"
	maxPort = 65535

	// Free ports are looked for below those that the system gives to outgoing
	// connections (32768 and up on Linux): one of these might take a node's
	// port while the node is down for a moment.
	firstFree = 20_000
	lastFree  = 32_000
	tries     = 100
)

// plan decides who listens where. Raft addresses are part of the cluster's
// configuration and stay what they were; API ports follow the options.
func plan(o Options, known *File) (File, error) {
	f := File{ClusterID: known.ClusterID, KernelID: o.KernelID}
	var held []net.Listener // so that no free port is found twice
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	take := func(port int) (string, error) {
		l, err := listen(port)
		if err != nil {
			return "", busy(port, err)
		}
		held = append(held, l)
		return l.Addr().String(), nil
	}
	for i := range o.Nodes {
		node := Node{ID: "n" + strconv.Itoa(i+1)}
		port := 0
		if o.APIPort != 0 {
			port = o.APIPort + i
		}
		address, err := take(port)
		if err != nil {
			return f, err
		}
		node.API = "http://" + address
		if old, ok := known.Find(node.ID); ok {
			node.Raft = old.Raft
			if err := takeAgain(take, old.Raft); err != nil {
				return f, err
			}
		} else if node.Raft, err = take(0); err != nil {
			return f, err
		}
		f.Nodes = append(f.Nodes, node)
	}
	return f, nil
}

// listen takes a port; any free one for 0.
func listen(port int) (net.Listener, error) {
	if port == 0 {
		for range tries {
			if l, err := listen(firstFree + rand.IntN(lastFree-firstFree)); err == nil {
				return l, nil
			}
		}
	}
	return net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
}

// takeAgain checks that a Raft address of before is free.
func takeAgain(take func(int) (string, error), address string) error {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return &Problem{Rule: FileName + " is damaged: " + address + " is no address"}
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return &Problem{Rule: FileName + " is damaged: " + address + " is no address"}
	}
	if _, err := take(port); err != nil {
		return &Problem{Rule: fmt.Sprintf("Raft port %d is busy, and the nodes in this directory know each other by it", port),
			Hint: "end the program that uses it: ss -ltnp shows which"}
	}
	return nil
}

func busy(port int, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return &Problem{Rule: fmt.Sprintf("API port %d is busy", port),
			Hint: "another omni dev may be running; choose other ports: --api-port 7800"}
	case errors.Is(err, syscall.EACCES):
		return &Problem{Rule: fmt.Sprintf("API port %d may not be used by you", port), Hint: "choose one above 1023: --api-port 7700"}
	}
	return fmt.Errorf("listen on port %d: %w", port, err)
}
