package httpapi

import (
	"strconv"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

func decodePoll(raw value.Raw, p *api.PollBody) *api.Error {
	e := eachField(raw, "", func(f field) *api.Error {
		switch f.key {
		case "tools":
			return decodeNames(f, &p.Tools)
		case "worker":
			return f.text(&p.Worker)
		case "max":
			return f.whole(&p.Max, api.MaxPollCalls)
		case "wait_ms":
			return f.whole(&p.WaitMillis, api.MaxPollWaitMillis)
		}
		return f.unknown("max, tools, wait_ms, worker")
	})
	switch {
	case e != nil:
		return e
	case len(p.Tools) == 0 || len(p.Tools) > api.MaxPollTools:
		return invalid("tools", "must have 1 to "+strconv.Itoa(api.MaxPollTools)+" names of tools", "")
	case len(p.Worker) > api.MaxWorkerBytes:
		return invalid("worker", "must be at most "+strconv.Itoa(api.MaxWorkerBytes)+" bytes", "")
	}
	named := make(map[string]bool, len(p.Tools))
	for i, name := range p.Tools {
		at := "tools[" + strconv.Itoa(i) + "]"
		if !kerneltools.IsName(name) {
			return invalid(at, "must be the name of a tool: dotted words of lower-case letters, digits, _ and -", "")
		}
		if named[name] {
			return invalid(at, "must not be named twice", "")
		}
		named[name] = true
	}
	return nil
}

func decodeComplete(raw value.Raw, result *tools.Result) *api.Error {
	return eachField(raw, "", func(f field) *api.Error {
		switch f.key {
		case "result":
			if f.raw != nil {
				result.Value = append(value.Raw(nil), f.raw...)
			}
			return nil
		case "usage":
			return decodeUsage(f, result)
		}
		return f.unknown("result, usage")
	})
}

func decodeFail(raw value.Raw, result *tools.Result) *api.Error {
	return eachField(raw, "", func(f field) *api.Error {
		switch f.key {
		case "code":
			code := string(result.Code)
			if e := f.text(&code); e != nil {
				return e
			}
			switch result.Code = failure.Code(code); result.Code {
			case failure.ToolCrashed, failure.ToolFailed, failure.ToolUnreachable:
				return nil
			}
			return invalid(f.path(), "must be TOOL_CRASHED, TOOL_FAILED or TOOL_UNREACHABLE", "")
		case "message":
			return f.text(&result.Message)
		case "usage":
			return decodeUsage(f, result)
		}
		return f.unknown("code, message, usage")
	})
}

func decodeUsage(f field, result *tools.Result) *api.Error {
	if f.raw == nil {
		return nil
	}
	result.Usage.Metered = true
	return eachField(f.raw, f.path(), func(f field) *api.Error {
		switch f.key {
		case "tokens":
			return f.whole(&result.Usage.Tokens, maxExact)
		case "usd_micros":
			return f.whole(&result.Usage.USDMicros, maxExact)
		}
		return f.unknown("tokens, usd_micros")
	})
}
