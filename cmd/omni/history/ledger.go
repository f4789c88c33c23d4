package history

import (
	"errors"
	"io"

	"github.com/omnikernel/omnikernel/kernel/flows"
	"github.com/omnikernel/omnikernel/kernel/replay"
	"github.com/omnikernel/omnikernel/transport/api/logexport"
)

// ErrOtherRun says that a ledger's header names another run than its blocks.
var ErrOtherRun = errors.New("the ledger's header names another run than its blocks define")

// Ledger reads a run's ledger to its end and checks everything that can be checked
// without the cluster: that it is whole, that its blocks are chained as the run's, and
// that they are of the run that its header names. each is told how far the blocks are,
// after every one; it may be nil.
func Ledger(from io.Reader, each func(*replay.LedgerSum)) (logexport.SubjectSummary, replay.LedgerSum, error) {
	r, err := logexport.NewLedgerReader(from)
	if err != nil {
		return logexport.SubjectSummary{}, replay.LedgerSum{}, err
	}
	ledger := replay.NewLedger(r.Header().Run)
	if _, _, err := r.Next(); err != nil { // the log's first block
		return r.Summary(), ledger.Sum(), noEnd(err)
	}
	for {
		position, b, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ledger.Block(position, b)
		}
		if err != nil {
			return r.Summary(), ledger.Sum(), err
		}
		if each != nil {
			sum := ledger.Sum()
			each(&sum)
		}
	}
	if flows.FormatID(ledger.Sum().ID) != r.Header().RunID {
		return r.Summary(), ledger.Sum(), ErrOtherRun
	}
	return r.Summary(), ledger.Sum(), nil
}
