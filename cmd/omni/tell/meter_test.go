package tell

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Only a terminal sees a meter, and only while there is work.
func TestMeters(t *testing.T) {
	plain, _, stderr := teller(Text)
	m := plain.Meter()
	m.next = time.Time{}
	m.Show("%d of 10", 3)
	m.Done()
	assert.Empty(t, stderr.String())

	var screen bytes.Buffer
	m = &Meter{to: &screen}
	m.Show("%d of 10 blocks", 3)
	m.Show("too soon")
	m.next = time.Time{}
	m.Show("%d of 10", 9)
	assert.Equal(t, "\r3 of 10 blocks\r9 of 10       ", screen.String())
	m.Done()
	assert.Equal(t, "\r3 of 10 blocks\r9 of 10       \r       \r", screen.String())
	m.Show("over")
	m.Done()
	assert.Equal(t, "\r3 of 10 blocks\r9 of 10       \r       \r", screen.String())
	new(Meter).Done()
}
