package logaudit

import "github.com/omnikernel/omnikernel/kernel/event"

// ordered looks at an OPERATOR_ORDERED: it says what its event says, and of whom.
func (a *Auditor) ordered(body *event.Ordered) {
	asked, ok := event.DecodeBody[event.Order](a.event.Body)
	switch {
	case a.event.Kind != event.OperatorOrder || !ok:
		a.found(Order, "%s of %s is on record as ordered, and the event orders nothing", body.Action, body.Resource)
	case body.Order != *asked:
		a.found(Order, "%s of %s is on record as ordered, and the event orders %s of %s", body.Action, body.Resource, asked.Action, asked.Resource)
	case body.By != a.event.Principal:
		a.found(Order, "%s is on record for the order of %s", body.By, a.event.Principal)
	}
}
