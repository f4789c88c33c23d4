package httprequest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TO-7: one secret may be the beginning of another, and a number may be one.
func TestRedactor(t *testing.T) {
	var r Redactor
	r.Add("A", "tok")
	r.Add("B", "token-long")
	r.Add("PIN", "48151623")
	assert.True(t, r.Any())
	assert.Equal(t, "secret:B and secret:A", r.Text("token-long and tok"))
	got := r.Value(map[string]any{"tok": []any{48151623.0, int64(48151623), json.Number("48151623"), 4815.0, "48151623"}})
	assert.Equal(t, map[string]any{"secret:A": []any{"secret:PIN", "secret:PIN", "secret:PIN", 4815.0, "secret:PIN"}}, got)
}
