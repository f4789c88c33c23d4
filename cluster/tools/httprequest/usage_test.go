package httprequest

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// RU-5: what a service says of the cost goes with the result, also with one that
// is refused; what is malformed says nothing.
func TestUsage(t *testing.T) {
	for said, want := range map[string]kerneltools.Usage{
		"":                                  {},
		"tokens=120":                        {Metered: true, Tokens: 120},
		"tokens=120, usd-micros=450":        {Metered: true, Tokens: 120, USDMicros: 450},
		"usd-micros=0":                      {Metered: true},
		"tokens":                            {},
		"tokens=-1":                         {},
		"tokens=1.5":                        {},
		"tokens=1, dollars=2":               {},
		"tokens=99999999999999999999999999": {},
		"tokens=1;usd-micros=2":             {},
	} {
		t.Run(said, func(t *testing.T) {
			base := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if said != "" {
					w.Header().Set(UsageHeader, said)
				}
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == "/broken" {
					_, _ = w.Write([]byte("{"))
					return
				}
				_, _ = w.Write([]byte("{}"))
			})
			args := map[string]any{"url": base, "cost": map[string]any{"tokens": 500}}
			assert.Equal(t, want, run(t, Options{}, args).Usage)
			args["url"] = base + "/broken"
			result := run(t, Options{}, args)
			assert.False(t, result.OK)
			assert.Equal(t, want, result.Usage)
		})
	}
}
