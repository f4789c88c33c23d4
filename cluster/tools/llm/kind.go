package llm

import (
	"errors"

	"github.com/omnikernel/omnikernel/cluster/tools"
	"github.com/omnikernel/omnikernel/cluster/tools/httprequest"
	"github.com/omnikernel/omnikernel/kernel/failure"
	kerneltools "github.com/omnikernel/omnikernel/kernel/tools"
)

// maxAnswerBytes bounds what is read of an answer. It is more than a result may have:
// services say much around a message.
const maxAnswerBytes = 1 << 20

var errConfig = errors.New("the manifest's config is not one of kind llm")

// Kind makes the tools of kind llm.
type Kind struct {
	http *httprequest.Kind
}

var _ tools.Kind = (*Kind)(nil)

// NewKind returns the kind `llm`, which sends over the connections of kind http.
func NewKind(http *httprequest.Kind) *Kind { return &Kind{http: http} }

// Name is what manifests call it.
func (k *Kind) Name() string { return "llm" }

// Check says what is wrong with a manifest's config, and with its cost.
func (k *Kind) Check(m *kerneltools.Manifest) *failure.Refusal {
	_, refusal := readConfig(m)
	return refusal
}

// Make makes the tool. It holds nothing of its own.
func (k *Kind) Make(m *kerneltools.Manifest) (tools.Caller, error) {
	c, refusal := readConfig(m)
	if refusal != nil {
		return nil, errConfig
	}
	return &model{config: c, sender: k.http.Sender(&c.service, m.Idempotent, maxAnswerBytes)}, nil
}
