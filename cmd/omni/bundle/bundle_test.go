package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func gives(text string) Get {
	return func(context.Context, int64) ([]byte, bool, error) { return []byte(text), false, nil }
}

func unpack(t *testing.T, raw []byte) (files map[string]string) {
	t.Helper()
	files = make(map[string]string)
	zip, err := gzip.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	for archive := tar.NewReader(zip); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		content, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[h.Name] = string(content)
	}
}

// What cannot be had, takes too long or does not fit is in the manifest; the rest is in the
// bundle.
func TestBundle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		w := New(&out, "here", map[string]string{"version": "v1"}, 10)
		add := func(file string, get Get) bool {
			got, err := w.Add(t.Context(), 5*time.Second, file, get)
			require.NoError(t, err)
			return got
		}
		assert.True(t, add("a", gives("1234")))
		assert.False(t, add("refused", func(context.Context, int64) ([]byte, bool, error) { return nil, false, errors.New("no") }))
		assert.False(t, add("slow", func(ctx context.Context, _ int64) ([]byte, bool, error) {
			<-ctx.Done()
			return nil, false, ctx.Err()
		}))
		assert.True(t, add("b", gives("56789012345")))
		assert.False(t, add("c", gives("x")))
		w.Lacks("profiles", "nobody asked")
		manifest, err := w.Close()
		require.NoError(t, err)

		files := unpack(t, out.Bytes())
		assert.Equal(t, "1234", files["here/a"])
		assert.Equal(t, "567890", files["here/b"], "the tenth byte is the last")
		assert.Len(t, files, 3)
		var written Manifest
		require.NoError(t, json.Unmarshal([]byte(files["here/manifest.json"]), &written))
		assert.Equal(t, manifest.Items, written.Items)
		assert.Equal(t, []Item{{File: "a", Bytes: 4}, {File: "b", Bytes: 6, Cut: true}}, written.Items)
		assert.Equal(t, []Missing{
			{"refused", "no"}, {"slow", context.DeadlineExceeded.Error()}, {"c", "the bundle is full"}, {"profiles", "nobody asked"},
		}, written.Missing)
	})
}

// Whoever gives up ends it.
func TestGivingUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	w := New(io.Discard, "here", nil, 10)
	_, err := w.Add(ctx, time.Minute, "a", func(context.Context, int64) ([]byte, bool, error) {
		cancel()
		return nil, false, context.Canceled
	})
	assert.ErrorIs(t, err, context.Canceled)
}
