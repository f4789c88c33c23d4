package kerneltest

import (
	"strconv"
	"strings"

	"github.com/omnikernel/omnikernel/kernel/value"
)

// programs are what random agents do. Each shows something that no other does.
var programs = [...]string{
	``,
	`{"kind":"LITERAL","payload":{"value":7}}`,
	`{"kind":"CALL","payload":{"tool":"echo","args":{"n":"${input}"}}}`,
	`{"kind":"CALL","payload":{"tool":"echo","handle":true,"timeout_ms":400}}`,
	`{"kind":"CALL","payload":{"tool":"http.request","args":{"method":"POST","url":"http://h/x"}}}`,
	`{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":200}}}`,
	`{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":0}}}`,
	`{"kind":"CALL","payload":{"tool":"nothing"}}`,
	`{"kind":"FAIL","payload":{"message":"no","code":"MINE"}}`,
	`{"kind":"MAP","payload":{"over":"${range(90)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${i}"}}}}`,
	`{"kind":"MAP","payload":{"over":"${range(25)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${len(range(700))}"}}}}`,
	`{"kind":"MAP","payload":{"over":"${range(50)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${len(range(990))}"}}}}`,
	`{"kind":"MAP","payload":{"over":[1,2,3],"as":"i","do":{"kind":"CALL","payload":{"tool":"uuid.new"}}}}`,
	`{"kind":"MAP","payload":{"over":"${range(9)}","as":"i","do":{"kind":"CALL","payload":{"tool":"clock.now"}}}}`,
	`{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"r","do":{"kind":"CALL","payload":{"tool":"random.int","args":{"min":1,"max":9}}}}},
		{"kind":"LET","payload":{"name":"e","do":{"kind":"CALL","payload":{"tool":"echo","args":"${r}"}}}},
		{"kind":"CALL","payload":{"tool":"timer.sleep","args":{"ms":100}}},
		{"kind":"RETURN","payload":{"value":["${r}","${e}","${env}","${agent.tick_seq}"]}}]}}`,
	`{"kind":"LITERAL","payload":{"value":"${\"x\"*5000}"}}`,
	`{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","args":1},{"tool":"echo","args":2,"handle":true,"timeout_ms":300},{"tool":"clock.now","handle":true}]}}`,
	`{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","args":1},{"tool":"http.request","args":{"url":"http://h/x"}}]}}`,
	`{"kind":"RECEIVE","payload":{"timeout_ms":700,"handle":true}}`,
	`{"kind":"RECEIVE","payload":{}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"EMIT","payload":{"value":["on","${input}"]}},{"kind":"RECEIVE","payload":{"timeout_ms":500}},{"kind":"RECEIVE","payload":{"timeout_ms":500}}]}}`,
	`{"kind":"LOOP","payload":{"max":3,"index":"i","do":{"kind":"TRY","payload":{
		"do":{"kind":"RETURN","payload":{"do":{"kind":"CALL","payload":{"tool":"echo","timeout_ms":300}}}},
		"catch":[{"codes":["TOOL_UNREACHABLE","TOOL_FAILED","PERMISSION_DENIED"],"as":"e","do":{"kind":"WAIT","payload":{"ms":"${50 * (i + 1)}"}}}]}}}}`,
	`{"kind":"LOOP","payload":{"max":2,"while":"${True}","do":{"kind":"LITERAL","payload":{"value":1}}}}`,
	paid + `"cost":{"tokens":30}}}}`,
	`{"kind":"PARALLEL","payload":{"calls":[
		{"tool":"http.request","handle":true,"args":{"url":"http://h/x","cost":{"tokens":60,"usd_micros":5}}},
		{"tool":"http.request","handle":true,"args":{"url":"http://h/x","cost":{"tokens":60}}},
		{"tool":"http.request","handle":true,"timeout_ms":900,"args":{"method":"POST","url":"http://h/x","cost":{"tokens":20}}}]}}`,
	`{"kind":"PARALLEL","payload":{"calls":[
		{"tool":"http.request","handle":true,"args":{"url":"http://h/x","cost":{"tokens":30}}},
		{"tool":"http.request","handle":true,"args":{"url":"http://h/x","cost":{"tokens":30}}},
		{"tool":"http.request","handle":true,"args":{"url":"http://h/x","cost":{"tokens":30}}},
		{"tool":"http.request","handle":true,"args":{"url":"http://h/x","cost":{"tokens":45}}}]}}`,
	`{"kind":"CALL","payload":{"tool":"crm.get","args":{"id":7},"handle":true}}`,
	`{"kind":"CALL","payload":{"tool":"crm.get","args":{"id":"a/b"}}}`,
	`{"kind":"PARALLEL","payload":{"calls":[{"tool":"crm.get","args":{"id":"x"},"handle":true},{"tool":"search","handle":true}]}}`,
	`{"kind":"MAP","payload":{"over":[1,2,3],"as":"i","do":{"kind":"CALL","payload":{"tool":"search","args":"${i}","handle":true}}}}`,
	`{"kind":"CALL","payload":{"tool":"agent.get","args":{"agent":"018f4e5c-0000-7000-8000-000000000001"},"handle":true}}`,
}

// paid is a call that costs something, up to what it declares.
const paid = `{"kind":"CALL","payload":{"tool":"http.request","args":{"url":"http://h/x",`

// rememberers use memory. K stands for a key and N for a namespace, of a few.
var rememberers = [...]string{
	`{"kind":"WRITE","payload":{"key":"K","value":"${input}"}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"WRITE","payload":{"key":"K","value":"${agent.tick_seq}"}},{"kind":"FAIL","payload":{"message":"after a write"}}]}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"WRITE","payload":{"key":"K","value":[1]}},{"kind":"CALL","payload":{"tool":"echo","timeout_ms":300}},
		{"kind":"WRITE","payload":{"key":"a/L","value":[2]}},{"kind":"READ","payload":{"key":"K","default":"none"}}]}}`,
	`{"kind":"TRY","payload":{"do":{"kind":"WRITE","payload":{"key":"K","value":"once","version":0}},
		"catch":[{"codes":["VERSION_CONFLICT"],"do":{"kind":"CALL","payload":{"tool":"memory.delete","args":{"key":"K"}}}}]}}`,
	`{"kind":"WRITE","payload":{"key":"K","value":"${\"v\"*150}"}}`,
	`{"kind":"MAP","payload":{"over":["K","d","e","K"],"as":"k","do":{"kind":"WRITE","payload":{"key":"${k}","value":"${k}","handle":true}}}}`,
	`{"kind":"MAP","payload":{"over":["K","d","e"],"as":"k","do":{"kind":"SHARE","payload":{"namespace":"N","key":"${k}","value":"${k * 20}"}}}}`,
	`{"kind":"READ","payload":{"key":"K","default":[0]}}`,
	`{"kind":"READ","payload":{"key":"K","agent":"parent","handle":true}}`,
	`{"kind":"MAP","payload":{"over":["K","a/x","b"],"as":"k","do":{"kind":"READ","payload":{"key":"${k}","agent":"parent","handle":true}}}}`,
	`{"kind":"CALL","payload":{"tool":"memory.list","args":{"prefix":"a","limit":1},"handle":true}}`,
	`{"kind":"SEQ","payload":{"steps":[
		{"kind":"LET","payload":{"name":"r","do":{"kind":"CALL","payload":{"tool":"shared.read","args":{"namespace":"N","key":"K"}}}}},
		{"kind":"CALL","payload":{"tool":"echo","timeout_ms":300,"handle":true}},
		{"kind":"SHARE","payload":{"namespace":"N","key":"K","value":["${r.found}","${input}"],"version":"${r.version}"}}]}}`,
	`{"kind":"SHARE","payload":{"namespace":"N","key":"K","value":"${\"s\"*90}"}}`,
	`{"kind":"CALL","payload":{"tool":"shared.delete","args":{"namespace":"N","key":"K"}}}`,
	`{"kind":"CALL","payload":{"tool":"shared.list","args":{"namespace":"N"}}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"memory.delete","args":{"key":"K"}}},{"kind":"CALL","payload":{"tool":"echo","timeout_ms":300}}]}}`,
	`{"kind":"CALL","payload":{"tool":"memory.write","args":{"key":"K*","value":1}}}`,
}

var keys = [...]string{"a", "b", "a/x", "a/y", "c"}

// program is an instruction; nil for none. below is how many levels of children
// may stand in it.
func (h *History) program(below int) value.Raw {
	source := h.source(below)
	if source == "" {
		return nil
	}
	return JSON(h.T, source)
}

func (h *History) source(below int) string {
	switch h.choose.Pick("kind of program", 8) {
	case 0, 1, 2:
		return programs[h.choose.Pick("program", len(programs))]
	case 3, 4:
		return h.remembers()
	}
	if below == 0 {
		return programs[h.choose.Pick("program", len(programs))]
	}
	return h.delegates(below)
}

func (h *History) remembers() string {
	source := rememberers[h.choose.Pick("with memory", len(rememberers))]
	source = strings.ReplaceAll(source, `"K`, `"`+keys[h.choose.Pick("key", len(keys))])
	return strings.ReplaceAll(source, `"N"`, [...]string{`"team"`, `"solo"`}[h.choose.Pick("namespace", 2)])
}

// delegates is a program that has children.
func (h *History) delegates(below int) string {
	var b strings.Builder
	how := h.choose.Pick("how", 10)
	b.WriteString(`{"kind":"DELEGATE","payload":{"children":[`)
	if how >= 6 && h.choose.Pick("asks", 3) > 0 {
		b.WriteString(`{"program":` + asking[h.choose.Pick("asking", len(asking))] + `,"grants":` + escalated + `},`)
	}
	for i := range 1 + h.choose.Pick("children", 2) {
		if i > 0 {
			b.WriteString(",")
		}
		h.child(&b, below-1)
	}
	b.WriteString(`]`)
	detached := false
	switch how {
	case 0, 1:
		b.WriteString(`,"fail_fast":true`)
	case 2, 3:
		b.WriteString(`,"detach":true`)
		detached = true
	case 4:
		b.WriteString(`,"timeout_ms":900`)
	case 5:
		b.WriteString(`,"handle":true`)
	case 6, 7, 8:
		b.WriteString(`,"on_escalation":{"as":"e","do":` + handlers[h.choose.Pick("handler", len(handlers))] + `}`)
	}
	b.WriteString(`}}`)
	source := b.String()
	if !detached {
		return source
	}
	after := afterwards[h.choose.Pick("afterwards", len(afterwards))]
	return `{"kind":"SEQ","payload":{"steps":[{"kind":"LET","payload":{"name":"c","do":` + source + `}},` + after + `]}}`
}

// handlers decide what children ask for.
var handlers = [...]string{
	`{"kind":"LITERAL","payload":{"value":true}}`,
	`{"kind":"LITERAL","payload":{"value":{"approve":false,"reason":"not now"}}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"echo","timeout_ms":300}},{"kind":"LITERAL","payload":{"value":"${e.tool == \"echo\"}"}}]}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"WAIT","payload":{"ms":100}},{"kind":"LITERAL","payload":{"value":true}}]}}`,
	`{"kind":"FAIL","payload":{"message":"cannot decide"}}`,
	`{"kind":"MAP","payload":{"over":"${range(90)}","as":"i","do":{"kind":"LITERAL","payload":{"value":"${i}"}}}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"agent.kill","args":{"agent":"${e.agent_id}"}}},{"kind":"LITERAL","payload":{"value":true}}]}}`,
}

// afterwards is what a parent does that does not wait for its children.
var afterwards = [...]string{
	`{"kind":"LITERAL","payload":{"value":"done"}}`,
	`{"kind":"WAIT","payload":{"ms":300}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"clock.now"}},{"kind":"LITERAL","payload":{"value":"done"}}]}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"clock.now"}},{"kind":"CALL","payload":{"tool":"agent.revoke","args":{"agent":"${c[0].agent_id}"},"handle":true}}]}}`,
	`{"kind":"FAIL","payload":{"message":"with children"}}`,
	`{"kind":"CALL","payload":{"tool":"agent.suspend","args":{"agent":"${c[0].agent_id}","force":true},"handle":true}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"agent.suspend","args":{"agent":"${c[0].agent_id}"},"handle":true}},
		{"kind":"WAIT","payload":{"ms":100}},{"kind":"CALL","payload":{"tool":"agent.resume","args":{"agent":"${c[0].agent_id}"},"handle":true}},
		{"kind":"CALL","payload":{"tool":"agent.get","args":{"agent":"${c[0].agent_id}"},"handle":true}}]}}`,
	`{"kind":"CALL","payload":{"tool":"agent.kill","args":{"agent":"${c[0].agent_id}","reason":"enough"},"handle":true}}`,
	`{"kind":"CALL","payload":{"tool":"agent.revoke","args":{"agent":"${c[0].agent_id}"},"handle":true}}`,
	`{"kind":"RECEIVE","payload":{}}`,
	`{"kind":"CALL","payload":{"tool":"echo"}}`,
}

// child writes one child of a DELEGATE.
func (h *History) child(b *strings.Builder, below int) {
	program := h.source(below)
	if program == "" {
		program = `{"kind":"CALL","payload":{"tool":"echo"}}`
	}
	b.WriteString(`{"program":` + program)
	b.WriteString([...]string{``, `,"name":"worker"`, `,"mode":"service"`, `,"name":"worker"`}[h.choose.Pick("child", 4)])
	if h.choose.Pick("with input", 3) == 0 {
		b.WriteString(`,"input":{"n":5}`)
	}
	if h.choose.Pick("with teardown", 3) == 0 {
		b.WriteString(`,"teardown":` + teardowns[h.choose.Pick("teardown", len(teardowns))])
	}
	if h.choose.Pick("with ttl", 7) == 0 {
		b.WriteString(`,"ttl_ms":` + strconv.Itoa(400+1000*h.choose.Pick("ttl", 3)))
	}
	if !h.plain && h.choose.Pick("child's budget", 6) == 0 {
		b.WriteString(`,"budget":{"tokens":70}`)
	}
	if below > 0 {
		b.WriteString(`,"max_depth":` + strconv.Itoa(below))
	}
	b.WriteString(`,"grants":` + childGrants[h.choose.Pick("child's grants", len(childGrants))] + `}`)
}

// asking are programs whose calls are escalated to the parent.
var asking = [...]string{
	`{"kind":"CALL","payload":{"tool":"echo","timeout_ms":300}}`,
	`{"kind":"PARALLEL","payload":{"calls":[{"tool":"echo","handle":true},{"tool":"echo","args":2,"handle":true}]}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"CALL","payload":{"tool":"echo","handle":true}},{"kind":"CALL","payload":{"tool":"echo","handle":true}}]}}`,
}

const escalated = `[{"effect":"ESCALATE","action":"tool.call","resource":"echo"},` + allGrantsRest

// childGrants are what parents hand on: a part of everything, mostly.
var childGrants = [...]string{
	allGrants, allGrants, allGrants,
	`[]`,
	escalated,
	`[{"effect":"ESCALATE","action":"agent.delegate","resource":"**"},` + allGrantsRest,
	`[{"effect":"ESCALATE","action":"memory.*","resource":"**"},{"effect":"ALLOW","action":"memory.read","resource":"parent/**"}]`,
	`[{"effect":"ALLOW","action":"memory.*","resource":"self/**"},{"effect":"ALLOW","action":"memory.read","resource":"parent/a/**"},{"effect":"DENY","action":"tool.call","resource":"echo"}]`,
	`[{"effect":"ALLOW","action":"memory.*","resource":"self/**"},{"effect":"ALLOW","action":"memory.read","resource":"parent/**"},{"effect":"ALLOW","action":"agent.*","resource":"**"}]`,
	`[{"effect":"ALLOW","action":"root.all","resource":"**"}]`,
	`[{"effect":"ALLOW","action":"tool.*","resource":"**","not_after_ms":1750000009000}]`,
}

const allGrants = `[` + allGrantsRest

const allGrantsRest = `{"effect":"ALLOW","action":"tool.*","resource":"**"},{"effect":"ALLOW","action":"memory.*","resource":"**"},` +
	`{"effect":"ALLOW","action":"shared.*","resource":"**"},{"effect":"ALLOW","action":"agent.*","resource":"**"}]`

// teardowns are what agents do last.
var teardowns = [...]string{
	`{"kind":"WRITE","payload":{"key":"last","value":"words"}}`,
	`{"kind":"SHARE","payload":{"namespace":"team","key":"last","value":"${agent.id}"}}`,
	`{"kind":"FAIL","payload":{"message":"torn"}}`,
	`{"kind":"CALL","payload":{"tool":"echo"}}`,
	`{"kind":"CALL","payload":{"tool":"shared.read","args":{"namespace":"team","key":"a"},"handle":true}}`,
	`{"kind":"CALL","payload":{"tool":"shared.delete","args":{"namespace":"team","key":"a"},"handle":true}}`,
	`{"kind":"SEQ","payload":{"steps":[{"kind":"WRITE","payload":{"key":"last","value":1,"version":0}},{"kind":"WRITE","payload":{"key":"last","value":2,"version":0}}]}}`,
}
