package evaluator

import (
	"slices"

	"github.com/omnikernel/omnikernel/kernel/evaluator/expr"
	"github.com/omnikernel/omnikernel/kernel/failure"
	"github.com/omnikernel/omnikernel/kernel/value"
)

// operand is a field of a payload that is evaluated: a template, or its value
// when it holds no expression. An absent operand is the zero operand.
type operand struct {
	template *expr.Template
	constant cell
}

func (o *operand) given() bool { return o.template != nil || o.constant.set() }

// constantly makes an operand that is always the same value.
func constantly(raw value.Raw) operand {
	return operand{constant: cell{raw: raw, seen: expr.FromRaw(raw)}}
}

// compileOperand compiles a field. One without expressions is evaluated here,
// once for all ticks.
func compileOperand(raw value.Raw, path string) (operand, *failure.Refusal) {
	template, refusal := expr.CompileTemplate(raw, path)
	if refusal != nil {
		return operand{}, refusal
	}
	if !template.Constant() {
		return operand{template: template}, nil
	}
	v, fail := template.Eval(nil, expr.NewMeter(maxExpressionSteps, maxExpressionBytes))
	if fail != nil {
		return operand{}, invalid(path, fail.Message, "")
	}
	constant, fail := expr.AppendRaw(nil, v, MaxProgramBytes)
	if fail != nil {
		return operand{}, invalid(path, fail.Message, "")
	}
	return constantly(slices.Clip(constant)), nil
}

// evaluate gives the value of an operand in this tick, checked against the
// model and the bound on values (EX-10).
func (t *tick) evaluate(o *operand) (cell, *failure.Failure) {
	if o.template == nil {
		return o.constant, t.checkSize(o.constant.raw)
	}
	v, fail := o.template.Eval(t, t.meter())
	if fail != nil {
		return cell{}, fail
	}
	t.scratch, fail = expr.AppendRaw(t.scratch[:0], v, t.maxValue)
	if fail != nil {
		return cell{}, fail
	}
	t.charge(len(t.scratch))
	return cell{raw: slices.Clone(t.scratch), seen: v}, nil
}

func (t *tick) checkSize(raw value.Raw) *failure.Failure {
	if len(raw) > int(t.maxValue) {
		return tooLarge("a value", t.maxValue)
	}
	return nil
}
