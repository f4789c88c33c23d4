package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/kerneltest"
	omniapi "github.com/omnikernel/omnikernel/transport/api"
	"github.com/omnikernel/omnikernel/transport/client"
	"github.com/omnikernel/omnikernel/transport/worker"
)

// shout is the Go worker of docs/workers.md.
func shout(ctx context.Context, addresses []string) error {
	c, err := client.New(addresses, client.Options{})
	if err != nil {
		return err
	}
	w := worker.New(c, worker.Options{Name: "shouter", Concurrency: 16})
	w.Handle("text.shout", func(ctx context.Context, call *worker.Call) (any, error) {
		var args struct{ Text string }
		if err := call.Into(&args); err != nil {
			return nil, err
		}
		return strings.ToUpper(args.Text), nil
	})
	return w.Run(ctx) // until ctx ends, and the calls that it has are over
}

// snippets are a document's blocks of one language.
func snippets(t *testing.T, document, language string) (found []string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", document))
	require.NoError(t, err)
	for _, one := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(content), -1) {
		found = append(found, one[1])
	}
	require.NotEmpty(t, found)
	return found
}

// What docs/workers.md says is done by hand: its manifest is registered, its commands
// make an agent's call, and its Go is that of this file.
func (p *processes) workersByHand() {
	t := p.t
	own, err := os.ReadFile("worker_docs_test.go")
	require.NoError(t, err)
	for _, snippet := range snippets(t, "workers.md", "go") {
		assert.Contains(t, string(own), snippet)
	}
	for i, manifest := range snippets(t, "workers.md", "yaml") {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.yaml", i))
		require.NoError(t, os.WriteFile(file, []byte(manifest), 0o600))
		p.run("tool", "register", "-f", file)
	}
	script := "set -eu\n" + strings.Join(snippets(t, "workers.md", "sh"), "")
	const leader = "LEADER=http://127.0.0.1:7700"
	require.Contains(t, script, leader)
	cmd := exec.Command("sh", "-c", strings.Replace(script, leader, "LEADER="+p.url(p.leader()), 1))
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), serverVariable+"="+p.url(p.leader()), "no_proxy=*")
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	for _, want := range []string{`"tool":"pages.words"`, `"left_ms":`, `{"ok":true,"index":`} {
		assert.Contains(t, string(said), want)
	}
}

// TO-15: the Go worker makes many calls at once, and when it is stopped ends those that
// it has.
func (p *processes) goWorkers() {
	t := p.t
	p.lendAny("text.shout")
	p.lendAny("slow")
	p.lendAny("fails")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var urls []string
	for i := range p.nodes {
		urls = append(urls, p.url(i))
	}
	ended := make(chan error, 2)
	go func() { ended <- shout(ctx, urls) }()
	began, goOn := make(chan struct{}, 1), make(chan struct{})
	w := worker.New(p.client.Fork(), worker.Options{Name: "test", Concurrency: 4, Wait: 200 * time.Millisecond, Grace: time.Minute})
	w.Handle("slow", func(context.Context, *worker.Call) (any, error) {
		began <- struct{}{}
		<-goOn
		return map[string]bool{"late": true}, nil
	})
	w.Handle("fails", func(_ context.Context, call *worker.Call) (any, error) {
		switch how, _ := call.Args.Text(); how {
		case "panics":
			panic("a secret")
		case "elsewhere":
			return nil, &worker.Failure{Code: "TOOL_UNREACHABLE", Message: "the printer is off"}
		case "no value":
			return func() {}, nil
		case "large":
			return strings.Repeat("x", 600<<10), nil
		}
		return nil, errors.New("no paper")
	})
	go func() { ended <- w.Run(ctx) }()

	const many = 40
	agents := make([]string, many)
	for i := range agents {
		agents[i] = p.callWith("text.shout", map[string]any{"Text": fmt.Sprintf("a%d", i)})
	}
	for i, agent := range agents {
		assert.Equal(t, fmt.Sprintf("A%d", i), p.answerOf(agent)["value"])
	}
	for how, code := range map[string]string{
		"panics": "TOOL_CRASHED", "elsewhere": "TOOL_UNREACHABLE", "no value": "TOOL_FAILED", "large": "TOOL_RESULT_TOO_LARGE", "errs": "TOOL_FAILED",
	} {
		answer := p.answerOf(p.callWith("fails", how))
		assert.Equal(t, code, answer["code"], how)
		assert.NotContains(t, answer["message"], "secret")
	}
	slow := p.callWith("slow", nil)
	<-began
	stop()
	close(goOn)
	assert.Equal(t, map[string]any{"late": true}, p.answerOf(slow)["value"])
	for range 2 {
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(time.Minute):
			require.Fail(t, "a worker that was stopped does not end")
		}
	}
}

// TO-15: a worker that was slow cannot complete what was given to another.
func (p *processes) slowWorker() {
	t := p.t
	p.lendTool("slow.once", true, 1000)
	agent := p.callWith("slow.once", nil)
	poll := func() omniapi.LentCall {
		for {
			work, err := p.client.PollWork(t.Context(), omniapi.PollBody{Tools: []string{"slow.once"}, WaitMillis: 5000})
			require.NoError(t, err)
			if len(work.Calls) > 0 {
				return work.Calls[0]
			}
		}
	}
	result := omniapi.CompleteCallBody{Result: kerneltest.Value(t, map[string]any{"words": 1})}
	slow := poll()
	for {
		next := poll()
		require.Greater(t, next.Fence, slow.Fence)
		_, err := p.client.CompleteCall(t.Context(), slow.Lease, result)
		var said *omniapi.Error
		require.ErrorAs(t, err, &said)
		assert.Equal(t, omniapi.CodeLeaseLost, said.Code)
		if _, err = p.client.CompleteCall(t.Context(), next.Lease, result); err == nil {
			break
		}
		require.ErrorAs(t, err, &said) // a slow machine: this one has run out, too
		require.Equal(t, omniapi.CodeLeaseLost, said.Code)
	}
	assert.Equal(t, counted(1), p.answerOf(agent)["value"])
	_, err := p.client.Heartbeat(t.Context(), slow.Lease)
	var said *omniapi.Error
	require.ErrorAs(t, err, &said)
	assert.Equal(t, omniapi.CodeStaleResult, said.Code)
}
