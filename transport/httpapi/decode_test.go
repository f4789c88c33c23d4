package httpapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/kernel/event"
	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/tools"
	"github.com/omnikernel/omnikernel/kernel/value"
	"github.com/omnikernel/omnikernel/transport/api"
)

// filled sets every field of a struct to something that is not its zero value.
func filled(t *testing.T, v reflect.Value) {
	switch v.Interface().(type) {
	case value.Raw:
		raw, problem := value.FromJSON([]byte(`{"kind":"LITERAL","payload":{"value":[1,null,"x"]}}`), 1000)
		require.Nil(t, problem)
		v.Set(reflect.ValueOf(raw))
		return
	case permissions.Effect:
		v.Set(reflect.ValueOf(permissions.Deny))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			filled(t, v.Field(i))
		}
	case reflect.String:
		v.SetString("text of " + v.Type().String())
	case reflect.Int64:
		v.SetInt(77)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(78)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		filled(t, v.Elem())
	case reflect.Slice:
		item := reflect.New(v.Type().Elem()).Elem()
		filled(t, item)
		v.Set(reflect.Append(v, item, item))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), reflect.ValueOf("value"))
	default:
		t.Fatalf("a command has a field of a kind that this test does not know: %s", v.Type())
	}
}

// The decoders know every field of the commands' structs: whoever adds one and
// forgets them, loses it here.
func TestDecodersKnowEveryField(t *testing.T) {
	canonical := func(v any) value.Raw {
		src, err := json.Marshal(v)
		require.NoError(t, err)
		raw, problem := value.FromJSON(src, 1<<20)
		require.Nil(t, problem)
		return raw
	}
	check := func(name string, want any, got any, e *api.Error) {
		require.Nil(t, e, name)
		assert.Equal(t, want, got, name)
	}

	var define event.Define
	filled(t, reflect.ValueOf(&define).Elem())
	gotDefine, e := decodeDefine(canonical(define), "")
	check("define", &define, gotDefine, e)

	var start event.Start
	filled(t, reflect.ValueOf(&start).Elem())
	gotStart, e := decodeStart(canonical(start), "")
	check("start", &start, gotStart, e)

	var trigger, gotTrigger event.Trigger
	filled(t, reflect.ValueOf(&trigger).Elem())
	check("trigger", &trigger, &gotTrigger, decodeTrigger(canonical(trigger), "", &gotTrigger))

	var kill, gotKill event.Kill
	filled(t, reflect.ValueOf(&kill).Elem())
	check("kill", &kill, &gotKill, decodeKill(canonical(kill), "", &gotKill))

	var manifest, gotManifest tools.Manifest
	filled(t, reflect.ValueOf(&manifest).Elem())
	check("manifest", &manifest, &gotManifest, decodeManifest(canonical(manifest), "", &gotManifest))

	var submit, gotSubmit event.Submit
	filled(t, reflect.ValueOf(&submit).Elem())
	check("submit", &submit, &gotSubmit, decodeSubmit(canonical(submit), "", &gotSubmit))

	// The bodies of addressed commands have what the address does not say.
	var triggerBody api.TriggerBody
	filled(t, reflect.ValueOf(&triggerBody).Elem())
	addressed := event.Trigger{Agent: "a", Trigger: "b"}
	require.Nil(t, decodeTrigger(canonical(triggerBody), "", &addressed))
	assert.Equal(t, event.Trigger{Agent: "a", Trigger: "b", Reason: triggerBody.Reason, Input: triggerBody.Input, Force: true}, addressed)
	var killBody api.KillBody
	filled(t, reflect.ValueOf(&killBody).Elem())
	killed := event.Kill{Agent: "a"}
	require.Nil(t, decodeKill(canonical(killBody), "", &killed))
	assert.Equal(t, event.Kill{Agent: "a", Reason: killBody.Reason}, killed)
	var submitBody api.SubmitBody
	filled(t, reflect.ValueOf(&submitBody).Elem())
	submitted := event.Submit{Agent: "a"}
	require.Nil(t, decodeSubmit(canonical(submitBody), "", &submitted))
	assert.Equal(t, event.Submit{Agent: "a", Program: submitBody.Program, Input: submitBody.Input}, submitted)
}

// decodes holds a decoder against a command's struct, and, once the address is
// given, against the body that goes with it.
func decodes[Command, Body any](t *testing.T, decode func(value.Raw, string, *Command) *api.Error, addressed Command) {
	t.Helper()
	canonical := func(v any) value.Raw {
		src, err := json.Marshal(v)
		require.NoError(t, err)
		raw, problem := value.FromJSON(src, 1<<20)
		require.Nil(t, problem)
		return raw
	}
	var want, got Command
	filled(t, reflect.ValueOf(&want).Elem())
	require.Nil(t, decode(canonical(want), "", &got))
	assert.Equal(t, want, got)
	var body Body
	filled(t, reflect.ValueOf(&body).Elem())
	require.Nil(t, decode(canonical(body), "", &addressed), "%T", body)
	for i, from := 0, reflect.ValueOf(body); i < from.NumField(); i++ {
		name := from.Type().Field(i).Name
		assert.Equal(t, from.Field(i).Interface(), reflect.ValueOf(addressed).FieldByName(name).Interface(), "%T.%s", body, name)
	}
	e := decode(canonical(map[string]any{"nonsense": 1}), "", &addressed)
	require.NotNil(t, e)
	assert.Equal(t, "unknown field", e.Rule)
}

func TestOperatorDecodersKnowEveryField(t *testing.T) {
	decodes[event.Send, api.SendBody](t, decodeSend, event.Send{Agent: "a"})
	decodes[event.Reclassify, api.ReclassifyBody](t, decodeReclassify, event.Reclassify{Agent: "a"})
	decodes[event.RevokeToken, api.RevokeBody](t, decodeRevokeToken, event.RevokeToken{Agent: "a"})
	decodes[event.SuspendKernel, api.SuspendKernelBody](t, decodeSuspend, event.SuspendKernel{})
	decodes[event.ResumeKernel, api.ResumeKernelBody](t, decodeResume, event.ResumeKernel{})
	decodes[event.RevokeGrant, api.RevokeBody](t, decodeRevokeGrant, event.RevokeGrant{Agent: "a", Grant: 1})
	decodes[event.StartRun, api.RunStartBody](t, decodeStartRun, event.StartRun{Run: "a"})
	decodes[event.PauseRun, api.RunPauseBody](t, decodePauseRun, event.PauseRun{Run: "a"})
	decodes[event.ResumeRun, api.RunBody](t, decodeResumeRun, event.ResumeRun{Run: "a"})
	decodes[event.KillRun, api.RunBody](t, decodeKillRun, event.KillRun{Run: "a"})
	decodes[event.SetBudget, api.BudgetBody](t, decodeSetBudget, event.SetBudget{Agent: "a"})
	decodes[event.Decide, api.DecideBody](t, decodeDecide, event.Decide{Escalation: 1})
	decodes[event.PutShared, api.PutBody](t, decodePutShared, event.PutShared{Namespace: "n"})
	decodes[event.DeregisterTool, api.DeregisterBody](t, decodeDeregister, event.DeregisterTool{Name: "n"})
	decodes[event.DeleteShared, api.DeleteBody](t, decodeDeleteShared, event.DeleteShared{Namespace: "n"})
}

// The answer that is written by hand is the one that encoding/json writes.
func TestDoneIsWrittenAsItsTypeSays(t *testing.T) {
	done := api.Done{AgentID: "018f4e5c-0000-7000-8000-00000000000a", State: "ACTIVE", Index: 7, BusSeq: 9, Node: `n"1`, Repeated: true}
	var got api.Done
	require.NoError(t, json.Unmarshal(appendDone(nil, &done), &got))
	assert.Equal(t, done, got)
	for _, done := range []api.Done{done, {Index: 7, BusSeq: 9, Node: "n1", Version: 11}} {
		plain, err := json.Marshal(done)
		require.NoError(t, err)
		assert.JSONEq(t, string(plain), string(appendDone(nil, &done)))
	}
}
