package kerneltest

import (
	"github.com/omnikernel/omnikernel/kernel/evaluator/script"
	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// scripts are what random agents of script/1 do. Each shows something that no
// other does.
var scripts = [...]string{
	`
def main(input):
    emit(["on", input])
    first = call("echo", {"n": 1})
    print("first", first)
    second = call("echo", [first.ok], timeout_ms=400)
    emit(second.code)
    return [first.value, second.value, agent.tick_seq, env]
`, `
def main(input):
    n = input if type(input) == "int" else 0
    call("echo", n, timeout_ms=300)
    if n < 3:
        again(n + 1)
    return n
`, `
def main(input):
    results = gather([("echo", 1), ("http.request", {"url": "http://h/x", "cost": {"tokens": 30}}), ("clock.now",)])
    return [r.value if r.ok else r.code for r in results]
`, `
def main(input):
    at = recall("a", default=0)
    done = remember("a", agent.tick_seq, if_version=at.version)
    seen = recall("b", namespace="team")
    call("echo", timeout_ms=300)
    shared = remember("b", [input, seen.value], if_version=seen.version, namespace="team")
    above = recall("a", agent="parent")
    return [at.value, done.code, shared.code, shared.version, above.code]
`, `
def main(input):
    heard = call("echo", input, timeout_ms=300)
    remember("a", heard.code)
    return must(heard)
`, `
def main(input):
    for i in range(3):
        message = receive(timeout_ms=500)
        emit(message.value if message.ok else message.code)
        sleep(100)
    return call("random.int", {"min": 1, "max": 9}).value
`, `
def child(name):
    return {
        "evaluator": "script/1",
        "name": name,
        "program": "def main(input):\n    return [r.code for r in [call('echo', n) for n in range(2)]]",
        "grants": [{"effect": "ESCALATE", "action": "tool.call", "resource": "echo"}],
        "input": 7,
    }

def main(input):
    def decide(asked):
        emit(asked.escalation)
        call("echo", timeout_ms=200)
        limit = recall("limit", default=1).value
        if asked.escalation % 3 == 0:
            return {"approve": False, "reason": "every third"}
        return asked.escalation > limit
    done = delegate([child("a"), child("b")], decide=decide, timeout_ms=2000)
    return done.value if done.ok else done.code
`, `
def main(input):
    done = delegate([{"program": {"kind": "CALL", "payload": {"tool": "echo"}}, "grants": []}], detach=True)
    call("echo", done.value)
    fail("after", done.code, code="MINE")
`, `
def main(input):
    return [0] * 1000000000 if input else call("echo", "x" * 70000)
`, `
def main(input):
    for i in range(9):
        call("uuid.new")
`, `
def main():
    def parse(text):
        return text["status"]
    return parse(call("http.request", {"method": "POST", "url": "http://h/x"}).value)
`,
}

const scriptTeardown = `
def main(input):
    remember("last", agent.name)
    again(call("echo").code)
`

// scripted makes an agent one of script/1.
func (h *History) scripted(d *event.Define) {
	text := func(source string) value.Raw { return value.AppendString(nil, source) }
	d.Evaluator, d.Program = script.Name, text(scripts[h.choose.Pick("script", len(scripts))])
	if d.Teardown != nil {
		d.Teardown = text(scriptTeardown)
	}
}

// instruction is what is submitted: of std/1, or a script.
func (h *History) instruction() value.Raw {
	if h.rarely("a script", 5) {
		return value.AppendString(nil, scripts[h.choose.Pick("script", len(scripts))])
	}
	return h.program(3)
}
