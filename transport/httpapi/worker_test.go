package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TO-15: what is wrong with a worker's request is refused by its field, before anybody is
// asked; a node that lends nothing says that nothing happened.
func TestWorkersAreCheckedAtTheDoor(t *testing.T) {
	d := newDoor(t)
	for field, body := range map[string]string{
		"tools":    `{"tools":[]}`,
		"tools[0]": `{"tools":["A"]}`,
		"tools[1]": `{"tools":["a","a"]}`,
		"worker":   `{"tools":["a"],"worker":"` + strings.Repeat("w", 129) + `"}`,
		"max":      `{"tools":["a"],"max":101}`,
		"wait_ms":  `{"tools":["a"],"wait_ms":60001}`,
		"wait":     `{"tools":["a"],"wait":1}`,
	} {
		refuses(t, d.post("/workers/poll", body), 422, "INVALID_ARGUMENT", field)
	}
	names := `"a"`
	for i := range 32 {
		names += `,"b` + string(rune('a'+i%26)) + strings.Repeat("x", i) + `"`
	}
	refuses(t, d.post("/workers/poll", `{"tools":[`+names+`]}`), 422, "INVALID_ARGUMENT", "tools")
	const lease = "/workers/leases/1.1.1.1.1"
	refuses(t, d.post(lease+"/heartbeat", `{"lease":1}`), 422, "INVALID_ARGUMENT", "lease")
	for field, body := range map[string]string{"results": `{"results":1}`, "usage.tokens": `{"usage":{"tokens":-1}}`, "usage.eur": `{"usage":{"eur":1}}`} {
		refuses(t, d.post(lease+"/complete", body), 422, "INVALID_ARGUMENT", field)
	}
	for field, body := range map[string]string{"code": `{"code":"KILLED"}`, "message": `{"message":1}`, "reason": `{"reason":"x"}`} {
		refuses(t, d.post(lease+"/fail", body), 422, "INVALID_ARGUMENT", field)
	}
	refuses(t, d.post(lease+"/complete", `{"result":`), http.StatusBadRequest, "MALFORMED_JSON", "result")

	for _, r := range []reply{
		d.post("/workers/poll", `{"tools":["a"]}`), d.post(lease+"/heartbeat", ``), d.post(lease+"/complete", `{"result":1e400}`), d.post(lease+"/fail", ``),
		d.get("/workers"),
	} {
		e := refuses(t, r, http.StatusServiceUnavailable, "NO_LEADER", "")
		assert.True(t, e.Definite)
	}
}
