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

// checkpointOf is the checkpoint that the nth call of a program leaves.
func checkpointOf(t require.TestingT, p evaluator.Program, ctx evaluator.Context, nth int) []byte {
	var checkpoint []byte
	run(t, p, ctx, echo, func(t require.TestingT, p evaluator.Program, ctx evaluator.Context, tick evaluator.Tick,
		call evaluator.Call, answer evaluator.Answer,
	) evaluator.Tick {
		if nth--; nth == 0 {
			checkpoint = tick.AppendCheckpoint(nil)
		}
		return straight(t, p, ctx, tick, call, answer)
	})
	require.NotNil(t, checkpoint)
	return checkpoint
}

// The bytes of a checkpoint are part of the state of every replica: this one
// pins them. It is written as JSON here, since its encoding is the same.
func TestCheckpointBytes(t *testing.T) {
	checkpoint := checkpointOf(t, compile(t, nestedCalls), testContext, 4)
	require.Nil(t, value.Check(checkpoint, 1000))
	want := `[1,5,[0,2,1,{"k":[1,2.5,null]},2,"b",3,1],` + // node; x, note, y, i
		`[3],[[[1,"a",0],[1,"b",1]]],["outer"],[],` + // outer MAP: rest, results, x outside
		`[],[[2,"a",0]],[],[]]` // inner MAP: rest, results
	assert.Equal(t, want, string(value.Raw(checkpoint).AppendJSON(nil)))
}

// A checkpoint that this program cannot have written is CHECKPOINT_INVALID
// (FA-1: row 15).
func TestCheckpointRefused(t *testing.T) {
	p := compile(t, nestedCalls)
	good := `[1,5,[0,2,1,null,2,"b",3,1],[3],[[]],["outer"],[],[],[0],[],[]]`
	resume := func(src string) *failure.Failure {
		raw, problem := value.FromJSON([]byte(src), 1<<20)
		require.Nil(t, problem, src)
		_, fail := p.Resume(testContext, raw, nil)
		return fail
	}
	require.Nil(t, resume(good))
	for what, src := range map[string]string{
		"not a list":              `{}`,
		"too short":               `[1,5]`,
		"another version":         strings.Replace(good, "[1,", "[2,", 1),
		"version is text":         strings.Replace(good, "[1,", `["1",`, 1),
		"not at a CALL":           strings.Replace(good, "[1,5,", "[1,4,", 1),
		"no such node":            strings.Replace(good, "[1,5,", "[1,6,", 1),
		"negative node":           strings.Replace(good, "[1,5,", "[1,-1,", 1),
		"variables no list":       strings.Replace(good, `[0,2,1,null,2,"b",3,1]`, `{}`, 1),
		"odd variables":           strings.Replace(good, `,3,1]`, `,3]`, 1),
		"unknown variable":        strings.Replace(good, `,3,1]`, `,4,1]`, 1),
		"negative variable":       strings.Replace(good, `[0,2,1`, `[-1,2,1`, 1),
		"variable not a number":   strings.Replace(good, `[0,2,1`, `["0",2,1`, 1),
		"variables out of order":  strings.Replace(good, `1,null,2,"b"`, `2,"b",1,null`, 1),
		"variable twice":          strings.Replace(good, `[0,2,1,null`, `[0,2,0,null`, 1),
		"as is unbound":           strings.Replace(good, `2,"b",`, ``, 1),
		"index is unbound":        strings.Replace(good, `,3,1]`, `]`, 1),
		"a MAP is missing":        strings.Replace(good, `,[],[0],[],[]]`, `]`, 1),
		"a MAP too many":          strings.Replace(good, `,[],[0],[],[]]`, `,[],[0],[],[],[],[0],[],[]]`, 1),
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
	require.Equal(t, []byte{0x83, 1, 2, 0x82, 0, 1}, good)
	for _, bad := range [][]byte{
		{0x83, 1, 2, 0x82, 0, 0x18, 1},                                           // 1 in a longer form
		{0x83, 0x18, 1, 2, 0x82, 0, 1},                                           // the version in a longer form
		{0x98, 3, 1, 2, 0x82, 0, 1},                                              // the list's length in a longer form
		{0x83, 1, 2, 0x82, 0, 0xf7},                                              // undefined
		{0x83, 1, 2, 0x82, 0, 0xf9, 0x3c, 0},                                     // 1.0 as a float
		{0x83, 1, 2, 0x82, 0, 0x61, 0xff},                                        // not UTF-8
		{0x83, 1, 2, 0x9f, 0, 1, 0xff},                                           // indefinite length
		{0x83, 1, 2, 0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 1}, // a length beyond all bytes
		{},
	} {
		_, fail := p.Resume(testContext, bad, nil)
		require.NotNil(t, fail, "%x", bad)
		require.Equal(t, failure.CheckpointInvalid, fail.Code)
	}
}
