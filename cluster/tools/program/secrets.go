package program

import (
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

// environment is what the program is told beside its arguments.
func (t *tool) environment(r tools.Request) (env []string, secrets *httprequest.Redactor, refused *failure.Failure) {
	env = []string{"OMNI_TOOL=" + r.Tool, "OMNI_IDEMPOTENCY_KEY=" + r.IdempotencyKey, "OMNI_USAGE_FD=3"}
	secrets = new(httprequest.Redactor)
	for _, v := range t.config.env {
		text := v.text
		if before, name, ok := httprequest.CutSecret(text); ok {
			plain, known, receiver := "", false, "exec:"+t.config.program
			if t.kind.options.Secrets != nil {
				plain, known = t.kind.options.Secrets(name, receiver)
			}
			if !known || strings.Contains(plain, "\x00") {
				return nil, nil, &failure.Failure{Code: failure.ToolUnreachable, Message: failure.Clip("this node does not have the secret " + name + " for " + receiver)}
			}
			secrets.Add(name, plain)
			text = before + plain
		}
		env = append(env, v.name+"="+text)
	}
	return env, secrets, nil
}
