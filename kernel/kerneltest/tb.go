package kerneltest

// TB is what the checks here need of a test: *testing.T and *testing.B have it,
// and so has the T of a property.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}
