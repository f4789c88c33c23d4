//go:build planted_overspend

package budgets

// taken forgets what calls under way may yet come to: a bug, for the tests that must
// find it.
func (a *Account) taken(beside Amounts) Amounts { return beside }
