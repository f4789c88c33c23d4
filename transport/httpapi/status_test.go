package httpapi

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/omnikernel/omnikernel/cluster"
)

// A node of a cluster is what the API needs.
var (
	_ Node = (*cluster.Node)(nil)
	_ Node = (*cluster.Held)(nil)
	_ Node = (*cluster.Waiting)(nil)
)

// The API's status is the node's, name by name: a field that is added there is
// missed here.
func TestStatusSaysAllThatTheNodeSays(t *testing.T) {
	var from cluster.Status
	fillAll(reflect.ValueOf(&from).Elem())
	want, err := json.Marshal(from)
	require.NoError(t, err)
	got, err := json.Marshal(status(from))
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))
}

func fillAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillAll(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillAll(v.Elem())
	case reflect.Slice:
		item := reflect.New(v.Type().Elem()).Elem()
		fillAll(item)
		v.Set(reflect.Append(v, item))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(3)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(4)
	}
}
