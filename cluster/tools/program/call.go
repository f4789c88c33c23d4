package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/omnikernel/omnikernel/cluster/supervise"
	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/cluster/tools/sandbox"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// tool is one registered tool of kind exec.
type tool struct {
	kind   *Kind
	config *config
}

var _ tools.Caller = (*tool)(nil)

const (
	maxTalkBytes  = 4 << 10 // of standard error, its end
	maxUsageBytes = 1 << 10
	// closesWithin is for streams of a process that has ended, which end with it.
	closesWithin = 5 * time.Second
)

// Call runs the program. The arguments have passed the manifest's schema.
func (t *tool) Call(ctx context.Context, r tools.Request) tools.Result {
	box := t.kind.sandbox()
	if box == nil {
		return tools.Fail(failure.ToolUnreachable, "this node does not run programs now")
	}
	env, secrets, refused := t.environment(r)
	if refused != nil {
		return tools.Fail(refused.Code, refused.Message)
	}
	process, err := box.Start(sandbox.Command{
		Program: t.config.program, Args: t.config.args, Env: env, Limits: t.config.limits, Network: t.config.network,
	})
	if err != nil {
		return t.notStarted(r, err)
	}
	stop := context.AfterFunc(ctx, process.Kill)
	defer stop()
	said := t.converse(process, r.Args)
	if len(said.talk) > 0 {
		t.kind.options.Logger.Debug("a program wrote to its standard error", "tool", r.Tool, "end", secrets.Text(strings.ToValidUTF8(string(said.talk), "?")))
	}
	result := t.result(ctx, r, said, secrets)
	if len(said.usage) < maxUsageBytes {
		result.Usage = tools.ReadUsage(string(said.usage))
	}
	return result
}

// said is all that came of a process.
type said struct {
	out, talk, usage []byte
	tooLarge         bool
	exit             sandbox.Exit
}

// converse hands the process its arguments and takes what it says, until it has
// ended.
func (t *tool) converse(process *sandbox.Process, args value.Raw) (s said) {
	jobs, _ := supervise.NewGroup(context.Background())
	jobs.Go(func() {
		_, _ = process.Stdin.Write(append(args.AppendJSON(nil), '\n')) // a program need not read it
		_ = process.Stdin.Close()
	})
	jobs.Go(func() {
		limit := t.kind.options.MaxResultBytes
		s.out, _ = io.ReadAll(io.LimitReader(process.Stdout, int64(limit)+1))
		if s.tooLarge = len(s.out) > limit; s.tooLarge {
			process.Kill()
		}
	})
	jobs.Go(func() { s.talk = lastOf(process.Stderr) })
	jobs.Go(func() {
		s.usage, _ = io.ReadAll(io.LimitReader(process.Usage, maxUsageBytes))
		_, _ = io.Copy(io.Discard, process.Usage) // or it would wait for a reader
	})
	s.exit = process.Wait()
	ours := [...]*os.File{process.Stdin, process.Stdout, process.Stderr, process.Usage}
	for _, file := range ours {
		_ = file.SetDeadline(time.Now().Add(closesWithin))
	}
	jobs.Wait()
	for _, file := range ours {
		_ = file.Close()
	}
	return s
}

// lastOf reads a stream to its end, and keeps its last bytes.
func lastOf(r io.Reader) (last []byte) {
	buffer := make([]byte, maxTalkBytes)
	for {
		n, err := r.Read(buffer)
		last = append(last, buffer[:n]...)
		last = last[max(0, len(last)-maxTalkBytes):]
		if err != nil {
			return last
		}
	}
}

// result is what the call came to.
func (t *tool) result(ctx context.Context, r tools.Request, s said, secrets *httprequest.Redactor) tools.Result {
	switch {
	case s.tooLarge:
		return tools.Fail(failure.ToolResultTooLarge, fmt.Sprintf("the program wrote more than %d bytes, and was ended", t.kind.options.MaxResultBytes))
	case errors.Is(ctx.Err(), context.Canceled):
		return tools.Fail(failure.Withdrawn, "the call was cancelled")
	case ctx.Err() != nil:
		return tools.Fail(failure.ToolTimeout, "no answer in time: the program was ended")
	}
	var start *sandbox.StartError
	var result tools.Result
	switch exit := s.exit; {
	case errors.As(exit.Err, &start):
		return t.notStarted(r, exit.Err)
	case exit.Err != nil:
		result = tools.Fail(failure.ToolCrashed, "the program ended, and nobody can say how")
		result.Passing = true
	case exit.Signal == int(syscall.SIGXCPU):
		return tools.Fail(failure.ToolLimitExceeded, fmt.Sprintf("the program used more than %d s of CPU time, and was ended", t.config.limits.CPUSeconds))
	case exit.Signal == int(syscall.SIGXFSZ):
		return tools.Fail(failure.ToolLimitExceeded, fmt.Sprintf("the program wrote more than %d bytes to a file, and was ended", t.config.limits.FileBytes))
	case exit.Signal != 0:
		result = tools.Fail(failure.ToolCrashed, fmt.Sprintf("the program was ended by signal %d", exit.Signal))
		result.Passing = true
	case exit.Status != 0:
		result = tools.Fail(failure.ToolFailed, fmt.Sprintf("the program ended with status %d", exit.Status))
		result.Passing = exit.Status == tryAgain
	default:
		result = answer(s.out, secrets)
	}
	return result
}

// tryAgain is the status of a failure that may pass (sysexits.h, EX_TEMPFAIL).
const tryAgain = 75

// answer reads what a program wrote that ended well.
func answer(out []byte, secrets *httprequest.Redactor) tools.Result {
	if len(bytes.TrimSpace(out)) == 0 {
		return tools.Fail(failure.ToolResultInvalid, "the program wrote nothing: it must write a JSON value, and be it null")
	}
	decoded, problem := value.FromJSON(out, 4*len(out)) // "0.1" takes nine bytes; the registry bounds the whole
	if problem == nil && secrets.Any() {
		decoded, problem = value.FromGo(secrets.Value(decoded.ToGo()))
	}
	if problem != nil {
		return tools.Fail(failure.ToolResultInvalid, secrets.Text("what the program wrote is no JSON value: "+problem.String()))
	}
	return tools.Succeed(decoded)
}

// notStarted says in our own words why there was no process. The rest is for the
// node's log.
func (t *tool) notStarted(r tools.Request, err error) tools.Result {
	t.kind.options.Logger.Warn("a program was not started", "tool", r.Tool, "program", t.config.program, "error", err)
	why := "the sandbox for the program could not be made"
	var start *sandbox.StartError
	switch {
	case errors.Is(err, sandbox.ErrAbsent), errors.Is(err, sandbox.ErrExecutable), errors.Is(err, sandbox.ErrName):
		why = "the program " + err.Error()
	case !errors.As(err, &start) || start.Step != "exec":
	case errors.Is(err, syscall.ENOENT):
		why = "the program's interpreter, or what it is linked with, is not there: a script must begin with #! and the path of one"
	case errors.Is(err, syscall.ENOEXEC):
		why = "the program is nothing that can be executed: a script must begin with #! and the path of its interpreter"
	case errors.Is(err, syscall.EACCES):
		why = "the user whom programs run as may not execute it"
	case errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.E2BIG):
		why = "the program does not fit into its limit of memory"
	}
	return tools.Fail(failure.ToolUnreachable, why)
}
