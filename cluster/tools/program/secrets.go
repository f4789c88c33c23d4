package program

import (
	"strings"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/kernel/failure"
)

const secretPrefix = "secret:"

// cutSecret takes a text apart whose last word is `secret:NAME`.
func cutSecret(text string) (before, name string, ok bool) {
	start := strings.LastIndexByte(text, ' ') + 1
	name, ok = strings.CutPrefix(text[start:], secretPrefix)
	return text[:start], name, ok && name != ""
}

// hidden takes the secrets of one call out of what its program wrote: a result is an
// event (TO-7). It cannot see one that the program has changed.
type hidden struct{ pairs []string }

func (h *hidden) add(name, plain string) {
	if plain != "" {
		h.pairs = append(h.pairs, plain, secretPrefix+name)
	}
}

func (h *hidden) redact(text string) string {
	return strings.NewReplacer(h.pairs...).Replace(text)
}

// redactValue does the same for every text in a value, keys included.
func (h *hidden) redactValue(v any) any {
	switch v := v.(type) {
	case string:
		return h.redact(v)
	case []any:
		for i := range v {
			v[i] = h.redactValue(v[i])
		}
	case map[string]any:
		clean := make(map[string]any, len(v))
		for key, member := range v {
			clean[h.redact(key)] = h.redactValue(member)
		}
		return clean
	}
	return v
}

// environment is what the program is told beside its arguments.
func (t *tool) environment(r tools.Request) (env []string, secrets *hidden, refused *failure.Failure) {
	env = []string{"OMNI_TOOL=" + r.Tool, "OMNI_IDEMPOTENCY_KEY=" + r.IdempotencyKey, "OMNI_USAGE_FD=3"}
	secrets = new(hidden)
	for _, v := range t.config.env {
		text := v.text
		if before, name, ok := cutSecret(text); ok {
			plain, known, receiver := "", false, "exec:"+t.config.program
			if t.kind.options.Secrets != nil {
				plain, known = t.kind.options.Secrets(name, receiver)
			}
			if !known || strings.Contains(plain, "\x00") {
				return nil, nil, &failure.Failure{Code: failure.ToolUnreachable, Message: failure.Clip("this node does not have the secret " + name + " for " + receiver)}
			}
			secrets.add(name, plain)
			text = before + plain
		}
		env = append(env, v.name+"="+text)
	}
	return env, secrets, nil
}
