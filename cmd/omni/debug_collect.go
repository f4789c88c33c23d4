package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cluster/nodejournal"
	"github.com/omnikernel/omnikernel/cmd/omni/bundle"
	"github.com/omnikernel/omnikernel/cmd/omni/dev"
	"github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
)

// collecting is a bundle that is being made.
type collecting struct {
	*bundleFlags
	a      *app
	w      *bundle.Writer
	client *client.Client
	status api.Status
	failed error // why nobody told the status
}

// logTail is how much of a log is taken.
const logTail = 1 << 20

// beginCollecting asks who is there. Nobody is an error, unless there is a directory to
// look at.
func (a *app) beginCollecting(ctx context.Context, f *bundleFlags) (*collecting, error) {
	connection, err := a.connect()
	if err != nil {
		return nil, err
	}
	b := &collecting{bundleFlags: f, a: a, client: connection}
	b.status, b.failed = connection.Status(ctx, client.Timeout(f.answer))
	if b.failed != nil && len(f.dirs)+len(f.pprof) == 0 {
		connection.Close()
		return nil, b.failed
	}
	return b, nil
}

func (b *collecting) collect(ctx context.Context) error {
	if b.failed != nil {
		b.w.Lacks("status.json", b.failed.Error())
	} else if err := b.document(ctx, "status.json", b.status); err != nil {
		return err
	}
	for _, node := range b.status.Nodes {
		if err := b.node(ctx, node); err != nil {
			return err
		}
	}
	for _, step := range []func(context.Context) error{b.profiles, b.directories, b.logFiles} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// document adds what is known already.
func (b *collecting) document(ctx context.Context, file string, v any) error {
	_, err := b.w.Add(ctx, b.answer, file, func(context.Context, int64) ([]byte, bool, error) {
		text, err := json.MarshalIndent(v, "", "  ")
		return text, false, err
	})
	return err
}

// node asks one node for everything that its API tells of it. One that does not answer is
// not asked again.
func (b *collecting) node(ctx context.Context, node api.NodeStatus) error {
	segments, newest := b.client.LogSegmentsPath()
	for i, ask := range []struct {
		file, path string
		query      url.Values
		anyStatus  bool // what is not well says so with its status
	}{
		{"node.json", "/v1/node", nil, false},
		{"status.json", "/v1/cluster/status", url.Values{"alone": {"true"}}, false},
		{"journal.json", "/v1/node/journal", url.Values{"limit": {fmt.Sprint(api.MaxPageItems)}}, false},
		{"healthz.json", "/healthz", nil, true},
		{"readyz.json", "/readyz", nil, true},
		{"metrics.txt", "/metrics", nil, false},
		{"segments.json", segments, newest, false},
	} {
		got, err := b.w.Add(ctx, b.answer, "nodes/"+node.ID+"/"+ask.file, func(ctx context.Context, max int64) ([]byte, bool, error) {
			status, body, cut, err := b.client.Fetch(ctx, ask.path, ask.query, max, client.Node(node.API))
			if err == nil && status >= 300 && !ask.anyStatus {
				err = fmt.Errorf("the node answers with %d: %.200s", status, body)
			}
			return body, cut, err
		})
		if err != nil {
			return err
		}
		if i == 0 && !got {
			b.w.Lacks("nodes/"+node.ID, "the rest was not asked for: the node does not answer")
			return nil
		}
	}
	return nil
}

// profiles gets what nodes serve beside their API.
func (b *collecting) profiles(ctx context.Context) error {
	if len(b.pprof) == 0 {
		b.w.Lacks("profiles", "not asked for: --pprof ID=HOST:PORT says where a node that was started with --pprof-addr has them")
	}
	for _, text := range b.pprof {
		id, where, _ := strings.Cut(text, "=")
		asks := [][2]string{
			{"config.json", configPath}, {"goroutines.txt", "/debug/pprof/goroutine?debug=2"},
			{"heap.pprof", "/debug/pprof/heap"}, {"mutex.pprof", "/debug/pprof/mutex"},
		}
		if b.profile > 0 {
			asks = append(asks, [2]string{"cpu.pprof", fmt.Sprintf("/debug/pprof/profile?seconds=%d", max(1, int(b.profile.Seconds())))})
		}
		for _, ask := range asks {
			if _, err := b.w.Add(ctx, b.answer+b.profile, "nodes/"+id+"/"+ask[0], b.page("http://"+strings.TrimPrefix(where, "http://")+ask[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

// page gets one page.
func (b *collecting) page(at string) bundle.Get {
	return func(ctx context.Context, most int64) ([]byte, bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if err != nil {
			return nil, false, err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return nil, false, err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return nil, false, errors.New(response.Status)
		}
		return readMost(response.Body, most)
	}
}

func readMost(from io.Reader, most int64) (content []byte, cut bool, err error) {
	content, err = io.ReadAll(io.LimitReader(from, most+1))
	if int64(len(content)) > most {
		content, cut = content[:most], true
	}
	return content, cut, err
}

// directories lists data directories, and reads the journals in them.
func (b *collecting) directories(ctx context.Context) error {
	for i, dir := range b.dirs {
		under := fmt.Sprintf("dirs/%d/", i+1)
		if _, err := b.w.Add(ctx, b.answer, under+"files.txt", func(ctx context.Context, most int64) ([]byte, bool, error) {
			return listing(ctx, dir, most)
		}); err != nil {
			return err
		}
		if _, err := b.w.Add(ctx, b.answer, under+"journal.json", func(context.Context, int64) ([]byte, bool, error) {
			found, err := nodejournal.Read(dir)
			if err != nil {
				return nil, false, err
			}
			text, err := json.MarshalIndent(found, "", "  ")
			return text, false, err
		}); err != nil {
			return err
		}
	}
	return nil
}

// listing is every file below a directory: size, time and name, no contents.
func listing(ctx context.Context, dir string, most int64) ([]byte, bool, error) {
	var text strings.Builder
	fmt.Fprintln(&text, dir)
	err := filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil {
			return errors.Join(err, ctx.Err())
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the node works while it is looked at
		}
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		fmt.Fprintf(&text, "%12d %s %s %s\n", info.Size(), info.Mode(), info.ModTime().UTC().Format(time.RFC3339), rel)
		if int64(text.Len()) > most {
			return io.ErrShortBuffer
		}
		return err
	})
	if errors.Is(err, io.ErrShortBuffer) {
		return []byte(text.String()[:most]), true, nil
	}
	return []byte(text.String()), false, err
}

// logFiles takes the ends of a dev cluster's logs. Other nodes do not hold theirs.
func (b *collecting) logFiles(ctx context.Context) error {
	switch {
	case !b.logs:
		b.w.Lacks("logs", "not asked for: --logs has those of a dev cluster; others are where the node's stderr goes, such as journalctl -u omni")
		return nil
	case b.a.dataDir == "":
		b.w.Lacks("logs", "--logs needs the dev cluster's --data-dir; other nodes do not hold their logs: they are where stderr goes")
		return nil
	}
	file, err := dev.ReadFile(b.a.dataDir)
	if err != nil {
		return err
	}
	for _, node := range file.Nodes {
		if _, err := b.w.Add(ctx, b.answer, "nodes/"+node.ID+"/log.txt", func(_ context.Context, most int64) ([]byte, bool, error) {
			return tail(filepath.Join(b.a.dataDir, node.ID+".log"), min(most, logTail))
		}); err != nil {
			return err
		}
	}
	return nil
}

// tail is the end of a file.
func tail(name string, most int64) (content []byte, cut bool, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, false, err
	}
	from := max(0, info.Size()-most)
	if _, err = file.Seek(from, io.SeekStart); err != nil {
		return nil, false, err
	}
	content, _, err = readMost(file, most)
	return content, from > 0, err
}
