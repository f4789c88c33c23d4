package tools

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// TO-12: an answer is held to the output schema, and what it breaks is named by field
// and rule, in our own words.
func TestAnswersOfPeople(t *testing.T) {
	schema := func(text string) *kerneltools.Manifest {
		v, problem := value.FromJSON([]byte(text), 1<<16)
		require.Nil(t, problem)
		return &kerneltools.Manifest{Output: v}
	}
	amount := schema(`{"type":"object","properties":{"amounts":{"type":"array","items":{"minimum":0}}},"required":["amounts"]}`)
	list := schema(`{"type":"array","items":{"type":"string"}}`)
	for answer, want := range map[string]struct {
		m           *kerneltools.Manifest
		field, rule string
	}{
		`{"amounts":[1,2]}`:  {amount, "", ""},
		`{"amounts":[1,-2]}`: {amount, "result.amounts[1]", "must be at least 0"},
		`{}`:                 {amount, "result", "must have the member amounts"},
		`["a",1]`:            {list, "result[1]", "must be of type string"},
		`{"any":"thing"}`:    {&kerneltools.Manifest{}, "", ""},
	} {
		v, problem := value.FromJSON([]byte(answer), 1<<16)
		require.Nil(t, problem)
		refusal := CheckAnswer(want.m, v)
		if want.rule == "" {
			assert.Nil(t, refusal, answer)
			continue
		}
		require.NotNil(t, refusal, answer)
		assert.Equal(t, []string{"INVALID_VALUE", want.field, want.rule}, []string{string(refusal.Code), refusal.Field, refusal.Rule})
	}
}

// TO-12: what a node makes takes an hour at most, whatever a manifest or a call says.
func TestTimeOfWhatANodeMakes(t *testing.T) {
	f := &factory{call: func(ctx context.Context, _ Request) Result {
		<-ctx.Done()
		time.Sleep(time.Second) // or its answer and the end may come together
		return Result{}
	}}
	registry, err := New(Options{Kinds: []Kind{f}})
	require.NoError(t, err)
	m := &kerneltools.Manifest{Name: "slow", Adapter: "test", TimeoutMillis: 3_600_000}
	require.Nil(t, registry.Check(m))
	m.TimeoutMillis++
	assert.Equal(t, "timeout_ms", registry.Check(m).Field)
	synctest.Test(t, func(t *testing.T) {
		registry, err := New(Options{Kinds: []Kind{f}})
		require.NoError(t, err)
		began := time.Now()
		result := registry.Run(t.Context(), Request{Tool: "slow", Revision: 1, Manifest: m, Timeout: 24 * time.Hour})
		assert.Equal(t, failure.ToolTimeout, result.Code)
		assert.Equal(t, time.Hour, time.Since(began))
		time.Sleep(2 * time.Second) // until the tool is back
	})
}
