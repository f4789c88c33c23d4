package dev

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Node is one node of the cluster.
type Node struct {
	ID   string `json:"id"`   // "n1"
	API  string `json:"api"`  // base URL of its API, "http://127.0.0.1:7700"
	Raft string `json:"raft"` // host:port of its Raft port
	PID  int    `json:"pid"`  // of its process; 0 while it does not run
}

// File is DIR/dev.json.
type File struct {
	ClusterID string `json:"cluster_id"`
	KernelID  string `json:"kernel_id"`
	Nodes     []Node `json:"nodes"`
}

// FileName is the file's name within the data directory.
const FileName = "dev.json"

// maxFileBytes is far more than a file of MaxNodes nodes needs.
const maxFileBytes = 1 << 20

// APIs lists the base URLs of the nodes.
func (f File) APIs() []string {
	urls := make([]string, 0, len(f.Nodes))
	for _, node := range f.Nodes {
		urls = append(urls, node.API)
	}
	return urls
}

// Find looks a node up by its id.
func (f File) Find(id string) (Node, bool) {
	for _, node := range f.Nodes {
		if node.ID == id {
			return node, true
		}
	}
	return Node{}, false
}

// ReadFile reads the dev.json of a data directory. The error is a *Problem.
func ReadFile(dir string) (File, error) {
	path := filepath.Join(dir, FileName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return File{}, &Problem{Rule: dir + " holds no dev cluster: there is no " + FileName,
			Hint: "start one: omni dev --data-dir " + dir}
	}
	if err != nil {
		return File{}, &Problem{Rule: path + " cannot be read: " + cause(err)}
	}
	var f File
	if len(raw) > maxFileBytes || json.Unmarshal(raw, &f) != nil || len(f.Nodes) == 0 {
		return File{}, &Problem{Rule: path + " is damaged: it does not list the nodes of a cluster"}
	}
	return f, nil
}

// write replaces the file in one step: a reader sees the old one or the new.
func (f *File) write(dir string) error {
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", FileName, err)
	}
	path := filepath.Join(dir, FileName)
	if err := os.WriteFile(path+".new", append(raw, '\n'), 0o600); err != nil {
		return &Problem{Rule: path + " cannot be written: " + cause(err)}
	}
	if err := os.Rename(path+".new", path); err != nil {
		return &Problem{Rule: path + " cannot be written: " + cause(err)}
	}
	return nil
}
