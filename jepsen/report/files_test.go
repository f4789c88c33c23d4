package report

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func pack(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	require.NoError(t, errors.Join(err, w.Close()))
	return out.Bytes()
}

// A log that is cut off, or has a record that no log has, is not taken.
func TestDamagedLog(t *testing.T) {
	one := `{"bus_seq":1,"index":1,"term":1,"at_ms":0,"kind":"a","body":{}}` + "\n"
	whole := pack(t, []byte(strings.Repeat(one, 3)))
	records, err := readLog(bytes.NewReader(whole))
	require.NoError(t, err)
	require.Len(t, records, 3)
	for cut := range whole {
		_, err = readLog(bytes.NewReader(whole[:cut]))
		require.Error(t, err, cut)
	}
	for text, said := range map[string]string{
		one + "x": "record 2", one + one + `{"odd":1}`: "record 3", one + "{} {}": "after the end", one + "\n": "record 2",
		strings.Repeat(" ", maxRecord+1): "after record 0",
	} {
		_, err = readLog(bytes.NewReader(pack(t, []byte(text))))
		require.ErrorContains(t, err, said)
	}
}

// Whatever a log is, it is refused, or it is the same log when it is written again.
func FuzzLog(f *testing.F) {
	for _, text := range []string{"", "{}", `{"bus_seq":1,"body":{"a":[1,null,"x"]}}` + "\n{}\n", `{"bus_seq":-1}`, "\n", `{"body":`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = readLog(bytes.NewReader(text)) // as packed bytes, which they seldom are
		records, err := readLog(bytes.NewReader(pack(t, text)))
		if err != nil {
			return
		}
		var again bytes.Buffer
		lines := json.NewEncoder(&again)
		for i := range records {
			require.NoError(t, lines.Encode(&records[i]))
		}
		same, err := readLog(bytes.NewReader(pack(t, again.Bytes())))
		require.NoError(t, err)
		require.Len(t, same, len(records))
		var third bytes.Buffer
		lines = json.NewEncoder(&third)
		for i := range same {
			require.NoError(t, lines.Encode(&same[i]))
		}
		require.Equal(t, again.String(), third.String())
	})
}
