package event

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/omnikernel/omnikernel/kernel/permissions"
	"github.com/omnikernel/omnikernel/kernel/value"
)

func rawBytes(t *rapid.T, label string) value.Raw {
	b := value.Raw(rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, label))
	if len(b) == 0 {
		return nil // omitted when encoded
	}
	return b
}

func texts(t *rapid.T, label string) map[string]string {
	m := rapid.MapOfN(rapid.String(), rapid.String(), 0, 40).Draw(t, label)
	if len(m) == 0 {
		return nil
	}
	return m
}

func text(t *rapid.T, label string) string { return rapid.String().Draw(t, label) }

func drawGrants(t *rapid.T) (grants []permissions.Grant) {
	for range rapid.IntRange(0, 30).Draw(t, "grants") {
		grants = append(grants, permissions.Grant{
			Effect: permissions.Effect(rapid.Byte().Draw(t, "effect")), Action: text(t, "action"),
			Resource: text(t, "resource"), NotAfterMillis: rapid.Int64Min(0).Draw(t, "not after"),
		})
	}
	return grants
}

func drawDefine(t *rapid.T) Define {
	return Define{
		ID: text(t, "id"), Name: text(t, "name"), Evaluator: text(t, "evaluator"), Mode: text(t, "mode"),
		Labels: texts(t, "labels"), Env: texts(t, "env"), Grants: drawGrants(t), Program: rawBytes(t, "program"),
	}
}

// encoded is read back by canonical, without help from the general decoder, as
// what it was, and by the general decoder alike.
func encoded[T any](t *rapid.T, body T) {
	raw := Encode(body)
	fast := new(T)
	require.True(t, any(fast).(readable).read(raw, false), "%x", raw)
	require.Equal(t, &body, fast)
	require.True(t, any(new(T)).(readable).read(raw, true))
	slow, ok := decodeReflected[T](raw)
	require.True(t, ok)
	require.Equal(t, &body, slow)
}

func TestCanonicalReadsWhatIsEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			encoded(t, drawDefine(t))
		case 1:
			encoded(t, Start{Define: drawDefine(t), Input: rawBytes(t, "input"), Reason: text(t, "reason")})
		case 2:
			encoded(t, Trigger{Agent: text(t, "agent"), Trigger: text(t, "trigger"), Reason: text(t, "reason"), Input: rawBytes(t, "input")})
		case 3:
			encoded(t, Submit{Agent: text(t, "agent"), Program: rawBytes(t, "program"), Input: rawBytes(t, "input")})
		case 4:
			encoded(t, Result{
				Agent: rapid.Uint32().Draw(t, "agent"), Tick: rapid.Uint64().Draw(t, "tick"), Call: rapid.Uint32().Draw(t, "call"),
				OK: rapid.Bool().Draw(t, "ok"), Value: rawBytes(t, "value"), Code: text(t, "code"),
				Message: text(t, "message"), Millis: rapid.Int64Min(0).Draw(t, "millis"),
			})
		}
	})
}

func drawBudget(t *rapid.T) *Budget {
	return &Budget{
		Tokens: rapid.Uint64().Draw(t, "tokens"), USDMicros: rapid.Uint64().Draw(t, "micros"),
		WallMillis: rapid.Int64Min(0).Draw(t, "wall"), WarnPercent: rapid.Uint32().Draw(t, "warn"),
	}
}

// filled is a body with something in every field, so that a field that was added
// to a command and not to canonical is noticed.
func filled[T any](t *testing.T) T {
	var body T
	fillStruct(t, reflect.ValueOf(&body).Elem())
	return body
}

func fillStruct(t *testing.T, v reflect.Value) {
	for i := range v.NumField() {
		switch field := v.Field(i); field.Kind() {
		case reflect.String:
			field.SetString("text")
		case reflect.Bool:
			field.SetBool(true)
		case reflect.Int64:
			field.SetInt(70_000)
		case reflect.Uint8, reflect.Uint32, reflect.Uint64:
			field.SetUint(200)
		case reflect.Map:
			field.Set(reflect.ValueOf(map[string]string{"k": "v"}))
		case reflect.Struct:
			fillStruct(t, field)
		case reflect.Slice:
			if field.Type().Elem().Kind() == reflect.Uint8 {
				field.SetBytes([]byte{1, 2})
				continue
			}
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
			fillStruct(t, field.Index(0))
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
			fillStruct(t, field.Elem())
		default:
			t.Fatalf("a field of a kind that the test does not fill: %s", field.Type())
		}
	}
}

func TestCanonicalKnowsEveryField(t *testing.T) {
	knowsEveryField[Define](t)
	knowsEveryField[Start](t)
	knowsEveryField[Trigger](t)
	knowsEveryField[Submit](t)
	knowsEveryField[Result](t)
}

func knowsEveryField[T any](t *testing.T) {
	body, fast := filled[T](t), new(T)
	require.True(t, any(fast).(readable).read(Encode(body), false), "canonical_bodies.go does not know a field of %T", body)
	require.Equal(t, &body, fast)
}

// agrees holds what makes the fast way safe: whatever bytes canonical reads, the
// general decoder reads too, as the same body.
func agrees[T any](t *testing.T, raw []byte) {
	fast := new(T)
	read := any(fast).(readable).read(bytes.Clone(raw), false)
	require.Equal(t, read, any(new(T)).(readable).read(raw, true), "checking and reading differ: %x", raw)
	slow, ok := decodeReflected[T](raw)
	require.Equal(t, ok, ReadableBody[T](raw), "%x", raw)
	if !read {
		return
	}
	if !ok {
		t.Fatalf("only canonical reads %x", raw)
	}
	require.Equal(t, slow, fast, "%x", raw)
}

func FuzzCanonicalAgrees(f *testing.F) {
	for _, body := range []any{
		Define{ID: "a", Name: "b", Evaluator: "c", Mode: "task", Labels: map[string]string{"k": "v", "kk": "w"}, Env: map[string]string{"e": ""}},
		Define{Grants: []permissions.Grant{{Effect: permissions.Allow, Action: "a", Resource: "r", NotAfterMillis: 1 << 40}, {}}, Program: value.Null},
		Define{TTLMillis: 5, Budget: &Budget{Tokens: 1 << 40, USDMicros: 3, WallMillis: 70_000, WarnPercent: 80}},
		Start{Define: Define{Name: "n"}, Input: value.True, Reason: "r"},
		Trigger{Agent: "a", Trigger: "spawn", Reason: "because", Input: value.Null},
		Submit{Agent: "a", Program: value.Null, Input: value.EmptyMap},
		Result{Agent: 1 << 31, Tick: 1 << 63, Call: 300, OK: true, Value: value.False, Code: "c", Message: "m", Millis: 70_000, Metered: true, Tokens: 1 << 33, USDMicros: 5},
	} {
		f.Add(Encode(body))
	}
	// Near misses: null for a text, a key twice, a long head, no members, false
	// where it would be left out, a label twice, labels out of order.
	for _, raw := range []string{"\xa1\x01\xf6", "\xa2\x02\x61a\x01\x61b", "\xa1\x18\x01\x61a", "\xa1\x05\xa0", "\xa1\x07\x80", "\xa1\x08\x40", "\xa2\x01\x61a\x01\x61a", "\xa1\x04\xf4", "\xa1\x05\xa2\x61a\x61b\x61a\x61c", "\xa1\x05\xa2\x61b\x61b\x61a\x61c"} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		agrees[Define](t, raw)
		agrees[Start](t, raw)
		agrees[Trigger](t, raw)
		agrees[Submit](t, raw)
		agrees[Result](t, raw)
	})
}

// What is interned is the same bytes whether written by hand or by reflection:
// a digest names it.
func TestAppendIsEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.MapOfN(rapid.String(), rapid.String(), 0, 70).Draw(t, "pairs")
		require.Equal(t, Encode(pairs), AppendPairs(nil, pairs))
		grants := drawGrants(t)
		if grants == nil {
			grants = []permissions.Grant{}
		}
		for i := range grants {
			if rapid.Bool().Draw(t, "odd") {
				grants[i].NotAfterMillis = rapid.Int64Max(0).Draw(t, "not after")
			}
		}
		require.Equal(t, Encode(grants), AppendGrants(nil, grants))
		body, ok := decodeReflected[[]permissions.Grant](AppendGrants(nil, grants))
		require.True(t, ok)
		require.Equal(t, grants, *body)
	})
}

// What is written without reflection is the bytes that it gives.
func TestAppendedBodiesAreCanonical(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drawDefine(t)
		d.Teardown, d.MaxDepth, d.TTLMillis = rawBytes(t, "teardown"), rapid.Uint32().Draw(t, "depth"), rapid.Int64().Draw(t, "ttl")
		if rapid.Bool().Draw(t, "with budget") {
			d.Budget = drawBudget(t)
		}
		d.Input = rawBytes(t, "schema")
		start := Start{Define: d, Input: rawBytes(t, "input"), Reason: text(t, "reason")}
		result := Result{
			Agent: rapid.Uint32().Draw(t, "agent"), Tick: rapid.Uint64().Draw(t, "tick"), Call: rapid.Uint32().Draw(t, "call"),
			OK: rapid.Bool().Draw(t, "ok"), Value: rawBytes(t, "value"), Code: text(t, "code"), Message: text(t, "message"),
			Millis: rapid.Int64().Draw(t, "millis"), Metered: rapid.Bool().Draw(t, "metered"),
			Tokens: rapid.Uint64().Draw(t, "tokens"), USDMicros: rapid.Uint64().Draw(t, "micros"),
		}
		for _, body := range []any{d, &d, start, &start, result} {
			require.Equal(t, encodeByReflection(body), Encode(body))
		}
	})
	require.Equal(t, encodeByReflection(Define{}), Encode(Define{}))
	for _, body := range []any{Define{}, Start{}, Result{}} {
		require.Equal(t, map[string]int{"Define": 13, "Start": 3, "Result": 11}[reflect.TypeOf(body).Name()], reflect.TypeOf(body).NumField(),
			"a new field of %T is written by append_bodies.go too", body)
	}
}
