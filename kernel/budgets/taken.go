//go:build !planted_overspend

package budgets

// taken is what calls under way may yet come to, with what is about to be reserved.
func (a *Account) taken(beside Amounts) Amounts { return a.Reserved.Plus(beside) }
