package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/transport/api"
)

// TO-7: a secret is on the nodes and in the requests that they send, and nowhere else:
// in no event, record, snapshot, archive, backup or export, in no line that a node or a
// command prints, and in no answer of the API, though the services that are sent it say
// it again in every way they have.
func TestSecretsAreNowhere(t *testing.T) {
	const secret = `s3cr3t/+&<of=nobody>"x`
	mirror := newMirror(t)
	t.Setenv("OMNI_SECRET_MIRROR", secret)
	t.Setenv("OMNI_SECRET_MIRROR_FOR", mirror.URL)
	t.Setenv("OMNI_SECRET_TELLER", secret)
	t.Setenv("OMNI_SECRET_TELLER_FOR", "exec:teller")
	programs := tellerIn(t)
	p := newProcesses(t, []string{t.TempDir(), t.TempDir(), t.TempDir()},
		append(smallFlags(testStore()), "--exec-dir", programs, "--log-level", "debug")...)
	p.startAll()
	p.alike()
	manifests := mirror.manifests()
	for way := range tellerWays {
		manifests["program-"+way] = fmt.Sprintf(tellerManifest, way)
	}
	agents := make(map[string]string)
	for way, manifest := range manifests {
		file := filepath.Join(t.TempDir(), "mirror.yaml")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "name: mirror.%s\n%s%s", way, manifest, mirrorInput), 0o600))
		p.run("tool", "register", "-f", file)
		agents[way] = p.callOf("mirror."+way, 1)
	}
	for way, agent := range agents {
		answer := p.answerOf(agent)
		t.Logf("%s: %v %v", way, answer["code"], answer["message"])
		assert.Equal(t, slices.Contains(mirrorAnswers, way) || tellerWays[strings.TrimPrefix(way, "program-")], answer["ok"], "%s: %v", way, answer)
	}
	told := agents["text"]
	assert.Subset(t, mirror.told(secret), mirror.ways(), "each was sent the secret, or nothing is shown")

	hunt := &hunt{t: t, spellings: spellings(secret), mark: []byte(mirrorMark)}
	backup := filepath.Join(t.TempDir(), "mirror.omniback")
	hunt.in("backup create", []byte(p.run("backup", "create", backup)))
	for _, args := range [][]string{
		{"agent", "list"}, {"agent", "get", told}, {"agent", "history", told}, {"memory", "list", told}, {"log", "--limit", "1000"},
		{"log", "export"}, {"agent", "export", told}, {"tool", "list"}, {"tool", "show", "mirror.text"}, {"replay", "--all"}, {"log", "audit"},
		{"cluster", "status"}, {"node", "status", "n1"}, {"node", "journal", "n1"},
	} {
		hunt.in(strings.Join(args, " "), []byte(p.run(args...)))
		if args[len(args)-1] != "export" && args[1] != "export" {
			hunt.in(strings.Join(args, " ")+" -o json", []byte(p.run(append(slices.Clone(args), "-o", "json")...)))
		}
	}
	asked := 0
	for i := range p.nodes {
		asked += hunt.api(p, i, map[string]string{
			"kernel": "default", "id": told, "name": "mirror.text", "namespace": "none", "key": "none",
			"escalation": "1", "task": "none", "token": "1", "seq": "1", "action": "tool.call", "resource": "mirror",
		})
	}
	assert.Greater(t, asked, 60, "addresses of the API")
	p.fill(&traffic{client: p.client, name: "secrets"}, 40) // so that the segment is sealed
	p.run("log", "archive")
	p.alike()
	p.stopAll()
	for _, dir := range append(slices.Clone(p.dirs), p.output, filepath.Dir(backup)) {
		hunt.files(dir)
	}
	assert.Greater(t, hunt.marked, 10, "what is no secret is found wherever it may be, or the hunt sees nothing")
}

// mirrorMark is what services say that is no secret.
const mirrorMark = "this-may-be-everywhere"

const mirrorInput = `
input: {type: object, properties: {id: {type: integer}}, required: [id]}
resource: [id]
timeout_ms: 20000
`

const mirrorManifest = `adapter: http
config:
  method: POST
  url: %s/%s/{id}
  headers: {Authorization: "Bearer secret:MIRROR", X-Key: "secret:MIRROR"}
  private: true
secrets: [MIRROR]`

const mirrorMCPManifest = `adapter: mcp
config:
  url: %s/mcp
  tool: %s
  headers: {Authorization: "Bearer secret:MIRROR"}
  private: true
secrets: [MIRROR]`

// tellerManifest is of a program that is given the secret.
const tellerManifest = `adapter: exec
config: {program: teller, args: [%s], env: {KEY: "secret:TELLER"}}
secrets: [TELLER]`

// tellerWays are what the program does, and whether that is an answer.
var tellerWays = map[string]bool{"said": true, "usage": true, "nonsense": false, "failed": false, "crashed": false}

const teller = `#!/usr/bin/env python3
import json, os, sys
way, key = sys.argv[1], os.environ["KEY"]
sys.stderr.write(key + "\n")
with os.fdopen(3, "w") as usage:
    usage.write(key)
if way == "nonsense":
    print(key)
else:
    json.dump({"said": [key, "` + mirrorMark + `"], key: 1}, sys.stdout)
sys.stdout.flush()
if way == "failed":
    sys.exit(3)
if way == "crashed":
    os.abort()
`

func tellerIn(t *testing.T) (dir string) {
	dir = t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "teller"), []byte(teller), 0o755))
	return dir
}

// mirror is a real service, which says what it was told; over MCP too.
type mirror struct {
	*httptest.Server
	mcp   http.Handler
	heard chan [2]string // what it was asked, and its authorization
}

// mirrorAnswers are the ways in which it says it in an answer that is one.
var mirrorAnswers = []string{"text", "value", "key", "headers", "long", "mcp-says"}

// ways are those that stand in the path.
func (m *mirror) ways() []string {
	return []string{"refused", "broken", "moved", "busy", "status", "text", "value", "key", "headers", "long"}
}

func (m *mirror) manifests() map[string]string {
	all := map[string]string{
		"mcp-says":  fmt.Sprintf(mirrorMCPManifest, m.URL, "says"),
		"mcp-fails": fmt.Sprintf(mirrorMCPManifest, m.URL, "fails"),
	}
	for _, way := range m.ways() {
		all[way] = fmt.Sprintf(mirrorManifest, m.URL, way)
	}
	return all
}

func newMirror(t *testing.T) *mirror {
	says := mcp.NewServer(&mcp.Implementation{Name: "mirror", Version: "1"}, nil)
	for _, name := range []string{"says", "fails"} {
		mcp.AddTool(says, &mcp.Tool{Name: name}, func(_ context.Context, r *mcp.CallToolRequest, _ map[string]any) (*mcp.CallToolResult, any, error) {
			said := r.Extra.Header.Get("Authorization") + mirrorMark
			return &mcp.CallToolResult{IsError: name == "fails", Content: []mcp.Content{&mcp.TextContent{Text: said}}}, nil, nil
		})
	}
	m := &mirror{heard: make(chan [2]string, 1000)}
	m.mcp = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return says }, nil)
	m.Server = httptest.NewServer(m)
	t.Cleanup(m.Close)
	return m
}

func (m *mirror) told(secret string) (ways []string) {
	for {
		select {
		case heard := <-m.heard:
			if heard[1] == "Bearer "+secret && !slices.Contains(ways, heard[0]) {
				ways = append(ways, heard[0])
			}
		default:
			return ways
		}
	}
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	way, said := strings.Split(r.URL.Path, "/")[1], r.Header.Get("Authorization")
	if way == "mcp" {
		m.mcp.ServeHTTP(w, r)
		return
	}
	m.heard <- [2]string{way, said}
	value := func(v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	w.Header().Set("X-Said", said)
	switch way {
	case "text":
		_, _ = io.WriteString(w, mirrorMark+said)
	case "value":
		value(map[string]any{"said": []any{said, r.Header.Get("X-Key"), mirrorMark}})
	case "key":
		value(map[string]any{said: 1, mirrorMark: 2})
	case "headers":
		value(r.Header)
	case "long":
		value(strings.Repeat(mirrorMark+said+" ", 100))
	case "refused":
		http.Error(w, said, http.StatusForbidden)
	case "status":
		w.WriteHeader(http.StatusTeapot)
	case "busy":
		w.Header().Set("Retry-After", said)
		http.Error(w, said, http.StatusServiceUnavailable)
	case "moved":
		http.Redirect(w, r, "/elsewhere?key="+url.QueryEscape(said), http.StatusFound)
	case "broken":
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"a": `+said)
	}
}

// spellings are the ways in which a text may stand somewhere.
func spellings(secret string) map[string][]byte {
	quoted, _ := json.Marshal(secret)
	all := map[string][]byte{
		"plain": []byte(secret), "JSON": bytes.Trim(quoted, `"`), "hex": []byte(hex.EncodeToString([]byte(secret))),
		"query": []byte(url.QueryEscape(secret)), "path": []byte(url.PathEscape(secret)), "HTML": []byte(html.EscapeString(secret)),
	}
	for shift := range 3 { // where it begins among what is encoded; what depends on its neighbours is left out
		text := base64.StdEncoding.EncodeToString(append(make([]byte, shift), secret...))
		all[fmt.Sprintf("base64 at %d", shift)] = []byte(text[4 : len(text)-4])
		all[fmt.Sprintf("base64url at %d", shift)] = []byte(strings.NewReplacer("+", "-", "/", "_").Replace(text[4 : len(text)-4]))
	}
	return all
}

// hunt looks for a secret, and counts where it finds what is none.
type hunt struct {
	t         *testing.T
	spellings map[string][]byte
	mark      []byte
	marked    int
}

func (h *hunt) in(where string, content []byte) {
	h.t.Helper()
	for name, spelling := range h.spellings {
		assert.False(h.t, bytes.Contains(content, spelling), "%s: %s", where, name)
	}
	if bytes.Contains(content, h.mark) {
		h.marked++
	}
}

// files looks into every file of a directory.
func (h *hunt) files(dir string) {
	h.t.Helper()
	require.NoError(h.t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		h.in(path, content)
		return err
	}))
}

// api asks a node for everything that its API document says can be read.
func (h *hunt) api(p *processes, i int, known map[string]string) (asked int) {
	h.t.Helper()
	var document struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
			}
		}
	}
	raw, _ := h.get(p.url(i) + "/openapi.json")
	require.NoError(h.t, json.Unmarshal(raw, &document))
	for path, methods := range document.Paths {
		get, reads := methods["get"]
		if !reads {
			continue
		}
		query := url.Values{}
		for _, parameter := range get.Parameters {
			value, ok := known[parameter.Name]
			switch {
			case parameter.In == "path":
				require.True(h.t, ok, "%s: what is %s?", path, parameter.Name)
				path = strings.ReplaceAll(path, "{"+parameter.Name+"}", url.PathEscape(value))
			case parameter.Name == "consistency":
				query.Set("consistency", api.Stale)
			case parameter.Name == "from":
				query.Set("from", "1")
			case parameter.Required && parameter.In == "query":
				require.True(h.t, ok, "%s: what is %s?", path, parameter.Name)
				query.Set(parameter.Name, value)
			}
		}
		asked++
		body, header := h.get(p.url(i) + path + "?" + query.Encode())
		h.in(path, body)
		h.in(path, fmt.Append(nil, header))
	}
	return asked
}

// get reads an answer, of one that does not end what comes within half a second.
func (h *hunt) get(address string) ([]byte, http.Header) {
	h.t.Helper()
	ctx, end := context.WithTimeout(h.t.Context(), 30*time.Second)
	defer end()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	require.NoError(h.t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(h.t, err, address)
	defer response.Body.Close()
	if response.Header.Get("Content-Type") == "text/event-stream" {
		time.AfterFunc(500*time.Millisecond, end)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, 64<<20))
	if ctx.Err() == nil {
		require.NoError(h.t, err, address)
	}
	return content, response.Header
}
