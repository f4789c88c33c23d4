package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/jepsen/check"
	"github.com/omnikernel/omnikernel/transport/client"
)

const (
	alike   = 30 * time.Second // how long nodes may take in the end until all hold the same
	patient = 5 * time.Second  // with a node that may not answer at all
)

// ends looks at what every node holds, once all hold the same or their time is
// over. Each node's log is exported, the first one's judged by omni itself.
func ends(ctx context.Context, c *client.Client, omni, dir string, nodes []string, within time.Duration) []check.End {
	deadline := time.Now().Add(within)
	for {
		list := make([]check.End, len(nodes))
		for i, node := range nodes {
			list[i] = end(ctx, c, node, filepath.Join(dir, exported(node)))
		}
		if same(list) || time.Now().After(deadline) || ctx.Err() != nil {
			for i := range list {
				if list[i].Error == "" && (i == 0 || list[i].Log != list[0].Log) {
					list[i].Audit = audit(ctx, omni, filepath.Join(dir, exported(list[i].Node)))
				}
			}
			return list
		}
		time.Sleep(lookEvery)
	}
}

func same(list []check.End) bool {
	for i := range list {
		if list[i].Error != "" || list[i].Digest != list[0].Digest || list[i].Log != list[0].Log {
			return false
		}
	}
	return true
}

func end(ctx context.Context, c *client.Client, node, file string) check.End {
	e := check.End{Node: node}
	status, err := c.Status(ctx, client.Node(node), client.Alone(), client.Timeout(patient))
	if err == nil && len(status.Nodes) != 1 {
		err = fmt.Errorf("%d nodes answer for one", len(status.Nodes))
	}
	if err == nil {
		self := &status.Nodes[0]
		e.Applied, e.BusSeq, e.Digest = self.AppliedIndex, self.BusSeq, self.Digest
		e.Log, err = export(ctx, c, node, file)
	}
	if err != nil {
		e.Error = err.Error()
	}
	return e
}

func export(ctx context.Context, c *client.Client, node, file string) (sum string, err error) {
	f, err := os.Create(file)
	if err != nil {
		return "", err
	}
	if _, err = c.Export(ctx, 0, f, client.Node(node), client.Timeout(alike)); err != nil {
		return "", errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:]), nil
}

// audit has the program itself verify and judge an exported log; what it says is
// kept when it has a finding.
func audit(ctx context.Context, omni, file string) string {
	var said []string
	for _, judge := range []string{"verify", "audit"} {
		output, err := exec.CommandContext(ctx, omni, "log", judge, file).CombinedOutput()
		if err != nil {
			said = append(said, fmt.Sprintf("omni log %s: %v: %s", judge, err, output))
		}
	}
	return strings.Join(said, "\n")
}

// exported is the file of a node's log, as it is exported. What the node says is in
// another one (lab.Node.Log).
func exported(node string) string { return node + ".export" }
