package evaluator_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/evaluator"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

const nestedCalls = `
kind: SEQ
payload:
  steps:
    - {kind: LET, payload: {name: x, value: outer}}
    - {kind: LET, payload: {name: note, value: {k: [1, 2.5, null]}}}
    - kind: MAP
      payload:
        over: [1, 2, 3]
        as: x
        do:
          kind: MAP
          payload:
            over: [a, b]
            as: y
            index: i
            do: {kind: CALL, payload: {tool: t, args: ["${x}", "${y}", "${i}"]}}
`

// everyFrame waits six times: for the children, in the handler twice, after the
// decision, and so on with the next item.
const everyFrame = `
kind: LOOP
payload:
  max: 3
  index: i
  do:
    kind: TRY
    payload:
      do:
        kind: MAP
        payload:
          over: [7, 8]
          as: x
          do:
            kind: DELEGATE
            payload:
              children: {over: [1, 2], as: c, child: {input: "${x + c}", program: {kind: RETURN}}}
              on_escalation:
                as: e
                do:
                  kind: SEQ
                  payload:
                    steps:
                      - {kind: PARALLEL, payload: {calls: [{tool: t}, {tool: u}]}}
                      - {kind: READ, payload: {key: k}}
                      - {kind: LITERAL, payload: {value: true}}
      catch: [{as: f, do: {kind: LITERAL, payload: {value: 0}}}]
`

// checkpointOf is the checkpoint that the nth call of a program leaves.
func checkpointOf(t require.TestingT, p evaluator.Program, ctx evaluator.Context, nth int) []byte {
	var checkpoint []byte
	w := world{ctx: ctx, answers: echo, escalations: []value.Raw{rawGo(t, map[string]any{"escalation": 300})}}
	w.run(t, p, func(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
		asked []evaluator.Call, d *evaluator.Delivery,
	) evaluator.Tick {
		if nth--; nth == 0 {
			checkpoint = tick.AppendCheckpoint(nil)
		}
		return straight(t, p, ctx, tick, asked, d)
	})
	require.NotNil(t, checkpoint)
	return checkpoint
}

// The bytes of a checkpoint are part of the state of every replica: this one
// pins them. It is written as JSON here, since its encoding is the same.
func TestCheckpointBytes(t *testing.T) {
	checkpoint := checkpointOf(t, compile(t, nestedCalls), testContext, 4)
	require.Nil(t, value.Check(checkpoint, 1000))
	want := `[2,5,[0,2,1,{"k":[1,2.5,null]},2,"b",3,1],` + // node; x, note, y, i
		`[[3],[[[1,"a",0],[1,"b",1]]],["outer"],[]],` + // outer MAP: rest, results, x outside
		`[[],[[2,"a",0]],[],[]]]` // inner MAP: rest, results
	assert.Equal(t, want, string(value.Raw(checkpoint).AppendJSON(nil)))
}

// Of a LOOP the number of the round, of a handler that of the escalation.
func TestCheckpointBytesOfFrames(t *testing.T) {
	p := compile(t, everyFrame)
	for nth, want := range map[int]string{
		1: `[2,3,[0,0,1,7],[1,[]],[[8],[],[],[]]]`,
		2: `[2,5,[0,0,1,7,3,{"escalation":300}],[1,[]],[[8],[],[],[]],[300,[]]]`,
		3: `[2,6,[0,0,1,7,3,{"escalation":300}],[1,[]],[[8],[],[],[]],[300,[]]]`,
		4: `[2,3,[0,0,1,7],[1,[]],[[8],[],[],[]]]`,
		6: `[2,5,[0,0,1,8,3,{"escalation":300}],[1,[]],[[],[` +
			`{"child":{"program":{"kind":"RETURN"}},"children":[{"input":8},{"input":9}],"on_escalation":true}],[],[]],[300,[]]]`,
		9: `[2,3,[0,1,1,7],[2,[]],[[8],[],[],[]]]`,
	} {
		checkpoint := checkpointOf(t, p, testContext, nth)
		require.Nil(t, value.Check(checkpoint, 1000))
		assert.Equal(t, want, string(value.Raw(checkpoint).AppendJSON(nil)), nth)
	}
	good := `[2,5,[0,"i",1,7,3,"e"],[3,["outer"]],[[8],[],[],[]],[300,["outer"]]]`
	resume := func(src string) *failure.Failure {
		raw, problem := value.FromJSON([]byte(src), 1<<20)
		require.Nil(t, problem, src)
		_, fail := p.Resume(testContext, raw, nil)
		return fail
	}
	require.Nil(t, resume(good))
	for what, src := range map[string]string{
		"round 0":                 strings.Replace(good, `[3,["outer"]]`, `[0,["outer"]]`, 1),
		"a round beyond max":      strings.Replace(good, `[3,["outer"]]`, `[4,["outer"]]`, 1),
		"round is text":           strings.Replace(good, `[3,["outer"]]`, `["3",["outer"]]`, 1),
		"a LOOP without index":    strings.Replace(good, `[3,["outer"]]`, `[3]`, 1),
		"a LOOP with more":        strings.Replace(good, `[3,["outer"]]`, `[3,["outer"],[]]`, 1),
		"index is unbound":        strings.Replace(good, `0,"i",`, ``, 1),
		"handler's as unbound":    strings.Replace(good, `,3,"e"`, ``, 1),
		"a negative escalation":   strings.Replace(good, `[300,`, `[-1,`, 1),
		"escalation is no number": strings.Replace(good, `[300,`, `[null,`, 1),
		"no handler":              strings.Replace(good, `,[300,["outer"]]`, ``, 1),
		"a handler too many":      strings.Replace(good, `[2,5,`, `[2,3,`, 1),
		"a frame is no list":      strings.Replace(good, `[300,["outer"]]`, `300`, 1),
		"a MAP of three":          strings.Replace(good, `[[8],[],[],[]]`, `[[8],[],[]]`, 1),
		"frames in another order": strings.Replace(good, `[3,["outer"]],[[8],[],[],[]]`, `[[8],[],[],[]],[3,["outer"]]`, 1),
		"at the LOOP":             `[2,0,[]]`,
	} {
		require.NotEqual(t, good, src, what)
		if fail := resume(src); assert.NotNil(t, fail, what) {
			assert.Equal(t, failure.CheckpointInvalid, fail.Code, what)
		}
	}
}

// A delivery that does not fit what waits is refused.
func TestDeliveryRefused(t *testing.T) {
	p := compile(t, everyFrame)
	escalation := rawGo(t, map[string]any{"escalation": 1})
	answer := evaluator.Answer{OK: true}
	for what, c := range map[string]struct {
		nth      int
		delivery evaluator.Delivery
	}{
		"nothing":                      {1, evaluator.Delivery{}},
		"two answers for one":          {1, *delivering(answer, answer)},
		"one answer for two":           {2, *delivering(answer)},
		"both":                         {1, evaluator.Delivery{Answers: []evaluator.Answer{answer}, Escalation: escalation}},
		"an escalation for a PARALLEL": {2, evaluator.Delivery{Escalation: escalation}},
		"an escalation for a READ":     {3, evaluator.Delivery{Escalation: escalation}},
		"no number":                    {1, evaluator.Delivery{Escalation: value.EmptyMap}},
		"a negative number":            {1, evaluator.Delivery{Escalation: rawGo(t, map[string]any{"escalation": -1})}},
		"no map":                       {1, evaluator.Delivery{Escalation: value.Null}},
	} {
		_, fail := p.Resume(testContext, checkpointOf(t, p, testContext, c.nth), &c.delivery)
		if assert.NotNil(t, fail, what) {
			assert.Equal(t, failure.CheckpointInvalid, fail.Code, what)
			assert.Equal(t, "what was delivered does not fit the instruction that waits", fail.Message)
		}
	}
	plain := compile(t, `{kind: DELEGATE, payload: {children: [{program: {kind: RETURN}}]}}`)
	_, fail := plain.Resume(testContext, checkpointOf(t, plain, testContext, 1), &evaluator.Delivery{Escalation: escalation})
	require.NotNil(t, fail, "a DELEGATE without a handler")
}

// A checkpoint that this program cannot have written is CHECKPOINT_INVALID
// (FA-1: row 15).
func TestCheckpointRefused(t *testing.T) {
	p := compile(t, nestedCalls)
	good := `[2,5,[0,2,1,null,2,"b",3,1],[[3],[[]],["outer"],[]],[[],[0],[],[]]]`
	resume := func(src string) *failure.Failure {
		raw, problem := value.FromJSON([]byte(src), 1<<20)
		require.Nil(t, problem, src)
		_, fail := p.Resume(testContext, raw, nil)
		return fail
	}
	require.Nil(t, resume(good))
	for what, src := range map[string]string{
		"not a list":              `{}`,
		"too short":               `[2,5]`,
		"another version":         strings.Replace(good, "[2,", "[1,", 1),
		"version is text":         strings.Replace(good, "[2,", `["2",`, 1),
		"not at a CALL":           strings.Replace(good, "[2,5,", "[2,4,", 1),
		"no such node":            strings.Replace(good, "[2,5,", "[2,6,", 1),
		"negative node":           strings.Replace(good, "[2,5,", "[2,-1,", 1),
		"variables no list":       strings.Replace(good, `[0,2,1,null,2,"b",3,1]`, `{}`, 1),
		"odd variables":           strings.Replace(good, `,3,1]`, `,3]`, 1),
		"unknown variable":        strings.Replace(good, `,3,1]`, `,4,1]`, 1),
		"negative variable":       strings.Replace(good, `[0,2,1`, `[-1,2,1`, 1),
		"variable not a number":   strings.Replace(good, `[0,2,1`, `["0",2,1`, 1),
		"variables out of order":  strings.Replace(good, `1,null,2,"b"`, `2,"b",1,null`, 1),
		"variable twice":          strings.Replace(good, `[0,2,1,null`, `[0,2,0,null`, 1),
		"as is unbound":           strings.Replace(good, `2,"b",`, ``, 1),
		"index is unbound":        strings.Replace(good, `,3,1]`, `]`, 1),
		"a MAP is missing":        strings.Replace(good, `,[[],[0],[],[]]]`, `]`, 1),
		"a MAP too many":          strings.Replace(good, `,[[],[0],[],[]]]`, `,[[],[0],[],[]],[[],[0],[],[]]]`, 1),
		"rest no list":            strings.Replace(good, `[3],[[]]`, `3,[[]]`, 1),
		"results no list":         strings.Replace(good, `[3],[[]]`, `[3],null`, 1),
		"two values outside":      strings.Replace(good, `["outer"]`, `["outer",1]`, 1),
		"index outside, no index": strings.Replace(good, `["outer"],[]`, `["outer"],[1]`, 1),
		"too many items":          strings.Replace(good, `[3],`, `[3`+strings.Repeat(",0", evaluator.MaxMapItems)+`],`, 1),
		"a value too large":       strings.Replace(good, `null`, `"`+strings.Repeat("x", 70_000)+`"`, 1),
	} {
		require.NotEqual(t, good, src, what)
		if fail := resume(src); assert.NotNil(t, fail, what) {
			assert.Equal(t, failure.CheckpointInvalid, fail.Code, what)
			assert.Equal(t, "the checkpoint is not one that this program can have written", fail.Message, what)
		}
	}
	whole := checkpointOf(t, p, testContext, 3)
	for n := range whole { // every prefix
		_, fail := p.Resume(testContext, whole[:n], nil)
		require.NotNil(t, fail)
	}
	_, fail := p.Resume(testContext, append(whole, 0), nil)
	require.NotNil(t, fail)
}

// Bytes inside that are no canonical value are refused, though they could be
// skipped over: one store, one checkpoint.
func TestCheckpointIsCanonical(t *testing.T) {
	p := compile(t, `{kind: SEQ, payload: {steps: [{kind: LET, payload: {name: x, value: 1}}, {kind: CALL, payload: {tool: t}}]}}`)
	good := checkpointOf(t, p, testContext, 1)
	require.Equal(t, []byte{0x83, 2, 2, 0x82, 0, 1}, good)
	for _, bad := range [][]byte{
		{0x83, 2, 2, 0x82, 0, 0x18, 1},                                           // 1 in a longer form
		{0x83, 0x18, 2, 2, 0x82, 0, 1},                                           // the version in a longer form
		{0x98, 3, 2, 2, 0x82, 0, 1},                                              // the list's length in a longer form
		{0x83, 2, 2, 0x82, 0, 0xf7},                                              // undefined
		{0x83, 2, 2, 0x82, 0, 0xf9, 0x3c, 0},                                     // 1.0 as a float
		{0x83, 2, 2, 0x82, 0, 0x61, 0xff},                                        // not UTF-8
		{0x83, 2, 2, 0x9f, 0, 1, 0xff},                                           // indefinite length
		{0x83, 2, 2, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1}, // a length beyond all bytes
		{},
	} {
		_, fail := p.Resume(testContext, bad, nil)
		require.NotNil(t, fail, "%x", bad)
		require.Equal(t, failure.CheckpointInvalid, fail.Code)
	}
}
