package expr

// arity tells, as a rule, why n arguments are not what the function takes;
// empty when they are.
func (t *function) arity(name string, n int) string {
	most := len(t.params)
	if n >= t.required && (n <= most || t.variadic) {
		return ""
	}
	count := counted(t.required, "argument")
	switch {
	case t.variadic:
		count = "at least " + count
	case most > t.required:
		count = decimal(int64(t.required)) + " to " + counted(most, "argument")
	}
	return name + " takes " + count + ", got " + decimal(int64(n))
}
