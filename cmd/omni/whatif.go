package main

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/omnikernel/omnikernel/cmd/omni/history"
	"github.com/omnikernel/omnikernel/cmd/omni/show"
	"github.com/omnikernel/omnikernel/cmd/omni/tell"
	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/config"
	"github.com/omnikernel/omnikernel/kernel/execution"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// supposing is what the flags of a what-if say.
type supposing struct {
	results []string // TICK.CALL=FILE
	limits  []string // NAME=N
}

func (s *supposing) any() bool { return len(s.results)+len(s.limits) > 0 }

// budgets are the limits of a tick that a what-if may change.
var budgets = []string{"max_calls_per_tick", "max_checkpoint_bytes", "max_steps_per_tick", "max_value_bytes", "max_work_per_tick"}

// change reads the flags. Limits are set when the log's configuration is known.
func (s *supposing) change(stdin io.Reader) (c replay.Change, err error) {
	if len(s.results) > 0 && len(s.limits) > 0 {
		return c, tell.Usage("ask for one, then for the other", "--with-result and --with-limit are two questions")
	}
	for _, text := range s.results {
		tick, answer, err := readResult(text, stdin)
		if err != nil {
			return c, err
		}
		if c.Tick != 0 && c.Tick != tick {
			return c, tell.Usage("ask about one tick at a time", "--with-result names the ticks %d and %d", c.Tick, tick)
		}
		c.Tick = tick
		c.Answers = append(c.Answers, answer)
	}
	for _, text := range s.limits {
		if err := setBudget(&config.Config{}, text); err != nil {
			return c, err
		}
	}
	return c, nil
}

// setBudget sets one limit.
func setBudget(c *config.Config, text string) error {
	name, number, _ := strings.Cut(text, "=")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return tell.Usage("for example --with-limit max_steps_per_tick=100", "--with-limit is %q, must be NAME=N", text)
	}
	narrow := map[string]*uint32{
		"max_calls_per_tick": &c.MaxCallsPerTick, "max_checkpoint_bytes": &c.MaxCheckpointBytes,
		"max_steps_per_tick": &c.MaxStepsPerTick, "max_value_bytes": &c.MaxValueBytes,
	}
	switch into := narrow[name]; {
	case name == "max_work_per_tick":
		c.MaxWorkPerTick = n
	case into == nil:
		return tell.Usage("one of "+strings.Join(budgets, ", "), "--with-limit names %q, which is no budget of a tick", name)
	case n > 1<<32-1:
		return tell.Usage("", "--with-limit %s is %d, which is too much", name, n)
	default:
		*into = uint32(n)
	}
	return nil
}

// limited is the log's configuration with the limits that were asked for.
func (s *supposing) limited(c *config.Config) (*config.Config, error) {
	if len(s.limits) == 0 {
		return nil, nil
	}
	changed := *c
	for _, text := range s.limits {
		if err := setBudget(&changed, text); err != nil {
			return nil, err
		}
	}
	if r := changed.Check(); r != nil {
		return nil, tell.Usage("", "--with-limit: %s %s", r.Field, r.Rule)
	}
	return &changed, nil
}

// maxResultBytes bounds the file of a result.
const maxResultBytes = 64 << 20

var (
	resultPattern = regexp.MustCompile(`^([1-9]\d*)\.([1-9]\d*)=(.+)$`)
	codePattern   = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
)

// readResult reads one --with-result.
func readResult(text string, stdin io.Reader) (tick uint64, a execution.Answer, err error) {
	parts := resultPattern.FindStringSubmatch(text)
	if parts == nil {
		return 0, a, tell.Usage("for example --with-result 3.1=page.json: of tick 3, the first call", "--with-result is %q, must be TICK.CALL=FILE", text)
	}
	tick, err = strconv.ParseUint(parts[1], 10, 64)
	call, wrong := strconv.ParseUint(parts[2], 10, 32)
	if err != nil || wrong != nil {
		return 0, a, tell.Usage("", "--with-result is %q: there are not so many ticks or calls", text)
	}
	from := stdin
	if parts[3] != "-" {
		f, err := os.Open(parts[3])
		if err != nil {
			return 0, a, tell.Usage("", "%v", err)
		}
		defer f.Close()
		from = f
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxResultBytes))
	if err != nil {
		return 0, a, fmt.Errorf("read %s: %w", parts[3], err)
	}
	v, problem := value.FromJSON(raw, maxResultBytes)
	if problem != nil {
		return 0, a, tell.Usage("", "%s is no JSON value: %s %s", parts[3], problem.Path, problem.Rule)
	}
	return tick, answerOf(uint32(call), v), nil
}

// answerOf makes an answer of a value: {code, message} is a failure.
func answerOf(call uint32, v value.Raw) execution.Answer {
	rd := value.NewReader(v)
	members, isMap := rd.ReadMapHeader()
	raw, has := v.Get("code")
	code, isText := raw.Text()
	if isMap && has && isText && codePattern.MatchString(code) {
		message := ""
		said, also := v.Get("message")
		if also {
			message, also = said.Text()
		}
		if members == 1 || members == 2 && also {
			return execution.Answer{Call: call, Code: failure.Code(code), Message: failure.Clip(message)}
		}
	}
	return execution.Answer{Call: call, OK: true, Value: v}
}

// whatIf answers what the flags ask.
func (r *replaying) whatIf(from io.Reader, id string, change replay.Change) error {
	meter := r.app.tell.Meter()
	defer meter.Done()
	var what *replay.WhatIf
	var refused error
	make := func(no uint32, c *config.Config, find kernel.FindBody) replay.Taker {
		change.Limits, refused = r.supposing.limited(c)
		for i := range change.Answers {
			if refused == nil && uint64(len(change.Answers[i].Value)) > uint64(c.MaxValueBytes) {
				refused = tell.Usage("", "the result of call %d is larger than the kernel's max_value_bytes", change.Answers[i].Call)
			}
		}
		what = replay.NewWhatIf(no, c, r.app.evaluators, find, r.of, change)
		return &refusing{what, &refused}
	}
	origin, err := history.OfAgent(from, id, make, func(bytes uint64) { meter.Show("%s", show.Bytes(bytes)) })
	meter.Done()
	switch {
	case refused != nil:
		return refused
	case err != nil:
		return unreadable(err)
	}
	report, err := what.Report()
	if err != nil {
		return &tell.Problem{Exit: 1, Code: tell.CodeRefused, Message: err.Error(), Hint: "see its calls with: omni log --agent " + id}
	}
	found := show.WhatIfOf(report, r.supposing.limits)
	found.Origin, found.ClusterID, found.KernelID, found.AgentID = origin.Kind, origin.ClusterID, origin.KernelID, id
	found.Millis = time.Since(r.began).Milliseconds()
	return r.app.tell.Data(found, func(p *tell.Page) { show.WhatIf(p, found) })
}

// refusing takes no block of a history that the question does not fit.
type refusing struct {
	*replay.WhatIf
	refused *error
}

// Done reports that there is nothing to find out.
func (x *refusing) Done() bool { return *x.refused != nil || x.WhatIf.Done() }
