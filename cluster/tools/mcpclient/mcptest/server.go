package mcptest

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Variables that make a server of a process.
const (
	modeVariable = "OMNI_MCPTEST"     // stdio, an address to listen at, mute, crash or babble
	dirVariable  = "OMNI_MCPTEST_DIR" // where calls are noted, and where releases are looked for
)

// Env is what a server's process is started with: how it is reached, and its directory.
func Env(mode, dir string) map[string]string {
	return map[string]string{modeVariable: mode, dirVariable: dir}
}

// Main serves and ends the process, if it is a server's.
func Main() {
	mode := os.Getenv(modeVariable)
	switch mode {
	case "":
		return
	case "mute": // starts, never says a word, and does not listen either
		(&desk{dir: os.Getenv(dirVariable)}).begin()
		signal.Ignore(syscall.SIGTERM)
		forEver()
	case "crash":
		os.Exit(3)
	case "babble":
		fmt.Println("Welcome to my server!")
		forEver()
	}
	d := &desk{dir: os.Getenv(dirVariable), mode: mode}
	if err := d.serve(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func forEver() {
	for {
		time.Sleep(time.Hour)
	}
}

// desk is the server.
type desk struct{ dir, mode string }

// begin notes that there is one more of them.
func (d *desk) begin() {
	d.note("started")
	d.note(fmt.Sprintf("pid/%d", os.Getpid()))
}

func (d *desk) serve() error {
	d.begin()
	if d.mode == "stdio" {
		fmt.Fprintln(os.Stderr, "serving with", os.Getenv("DESK_KEY"))
		return d.server().Run(context.Background(), &mcp.StdioTransport{})
	}
	listener, err := net.Listen("tcp", d.mode)
	if err != nil {
		return err
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return d.server() }, nil)
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch wants := os.Getenv("DESK_KEY"); {
		case strings.HasPrefix(r.URL.Path, "/elsewhere"):
			http.Redirect(w, r, "/mcp", http.StatusTemporaryRedirect)
		case strings.HasPrefix(r.URL.Path, "/busy"):
			w.WriteHeader(http.StatusServiceUnavailable)
		case strings.HasPrefix(r.URL.Path, "/nonsense"):
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("{nonsense"))
		case wants != "" && r.Header.Get("Authorization") != "Bearer "+wants:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			handler.ServeHTTP(w, r)
		}
	}))
}

// In is what most tools take.
type In struct {
	ID int `json:"id" jsonschema:"the number of the ticket"`
}

// Out is what the typed tool gives.
type Out struct {
	ID     int    `json:"id"`
	Status string `json:"status"`
}

func (d *desk) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "desk", Version: "1.2.3"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "getTicket", Description: "Gets a ticket.", Annotations: &mcp.ToolAnnotations{IdempotentHint: true}},
		func(ctx context.Context, r *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
			d.note(fmt.Sprintf("getTicket/%d", in.ID))
			d.wait(ctx, fmt.Sprintf("getTicket-%d", in.ID))
			return nil, Out{in.ID, "open, " + os.Getenv("DESK_KEY")}, nil
		})
	for name, answer := range map[string]func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error){
		"desk/pay": func(ctx context.Context, r *mcp.CallToolRequest, id int) (*mcp.CallToolResult, error) {
			d.wait(ctx, fmt.Sprintf("pay-%d", id))
			key, _ := r.Params.Meta["omnikernel/idempotency-key"].(string)
			return &mcp.CallToolResult{Meta: mcp.Meta{"omnikernel/usage": map[string]any{"tokens": 7, "usd_micros": 70}}, Content: []mcp.Content{text("paid " + key)}}, nil
		},
		"fail": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{text("no such ticket")}}, nil
		},
		"refuse": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			return nil, fmt.Errorf("no")
		},
		"several": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{text("one"), &mcp.ImageContent{Data: []byte{1, 2}, MIMEType: "image/png"}}}, nil
		},
		"large": func(_ context.Context, _ *mcp.CallToolRequest, bytes int) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{text(strings.Repeat("x", bytes))}}, nil
		},
		"number": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{StructuredContent: json.RawMessage(`{"n":9007199254740993}`)}, nil
		},
		"die": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			os.Exit(7)
			return nil, nil
		},
		"nonsense": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			fmt.Println("a line for whoever debugs")
			return &mcp.CallToolResult{Content: []mcp.Content{text("ok")}}, nil
		},
		"chatter": func(ctx context.Context, r *mcp.CallToolRequest, _ int) (*mcp.CallToolResult, error) {
			for range 20_000 {
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"and on"}}`)
			}
			return nil, ctx.Err()
		},
		"fork": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			child := exec.Command("sleep", "600")
			child.Stdout = os.Stdout // it holds the pipe open
			err := child.Start()
			return &mcp.CallToolResult{StructuredContent: map[string]any{"pid": child.Process.Pid}}, err
		},
		"hang": func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error) {
			forEver()
			return nil, nil
		},
	} {
		d.add(s, name, answer)
	}
	return s
}

// add adds a tool that takes a number.
func (d *desk) add(s *mcp.Server, name string, answer func(context.Context, *mcp.CallToolRequest, int) (*mcp.CallToolResult, error)) {
	schema := json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},"required":["id"]}`)
	s.AddTool(&mcp.Tool{Name: name, Description: "Does " + name + ".", InputSchema: schema}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var in In
		if err := json.Unmarshal(r.Params.Arguments, &in); err != nil {
			return nil, err
		}
		d.note(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, "/", "."), in.ID))
		return answer(ctx, r, in.ID)
	})
}

func text(s string) mcp.Content { return &mcp.TextContent{Text: s} }

// note appends a line to the file of calls, in one write.
func (d *desk) note(line string) {
	f, err := os.OpenFile(filepath.Join(d.dir, "calls"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		panic(err)
	}
}

// wait holds a call back for as long as there is a file of its name.
func (d *desk) wait(ctx context.Context, name string) {
	for ctx.Err() == nil {
		if _, err := os.Stat(filepath.Join(d.dir, "hold-"+name)); err != nil {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}
