package bundle

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"path"
	"time"
)

// ManifestName is the manifest's, in the bundle's directory.
const ManifestName = "manifest.json"

// Item is one file of a bundle.
type Item struct {
	File   string `json:"file"`
	Bytes  int    `json:"bytes"`
	Millis int64  `json:"took_ms"`
	Cut    bool   `json:"cut,omitempty"` // there was more of it
}

// Missing is what is not in a bundle.
type Missing struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Manifest says what is in a bundle, and what is not.
type Manifest struct {
	MadeAt  time.Time `json:"made_at"`
	By      any       `json:"by"` // the program that made it
	Items   []Item    `json:"items"`
	Missing []Missing `json:"missing"`
}

// Writer writes a bundle.
type Writer struct {
	dir      string
	manifest Manifest
	left     int64 // bytes
	zip      *gzip.Writer
	files    *tar.Writer
}

// New begins a bundle whose files are in a directory of this name, and have no more than
// so many bytes together before they are compressed.
func New(to io.Writer, dir string, by any, bytes int64) *Writer {
	zip := gzip.NewWriter(to)
	return &Writer{
		dir: dir, left: bytes, zip: zip, files: tar.NewWriter(zip),
		manifest: Manifest{MadeAt: time.Now().UTC(), By: by, Items: []Item{}, Missing: []Missing{}},
	}
}

// Get gets an item: at most max bytes of it, and whether there was more.
type Get func(ctx context.Context, max int64) (content []byte, cut bool, err error)

// Add gets an item, within a time, and writes it. What cannot be had is noted, and is no error: that is
// for the bundle itself. got tells whether it is there.
func (w *Writer) Add(ctx context.Context, within time.Duration, file string, get Get) (got bool, err error) {
	if w.left <= 0 {
		w.Lacks(file, "the bundle is full")
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	begun := time.Now()
	content, cut, err := get(limited, w.left)
	if err != nil {
		w.Lacks(file, err.Error())
		return false, ctx.Err()
	}
	if int64(len(content)) > w.left {
		content, cut = content[:w.left], true
	}
	w.left -= int64(len(content))
	w.manifest.Items = append(w.manifest.Items, Item{
		File: file, Bytes: len(content), Millis: time.Since(begun).Milliseconds(), Cut: cut,
	})
	return true, w.write(file, content)
}

// Lacks notes what is not in the bundle.
func (w *Writer) Lacks(what, why string) {
	w.manifest.Missing = append(w.manifest.Missing, Missing{What: what, Why: why})
}

func (w *Writer) write(file string, content []byte) error {
	err := w.files.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: path.Join(w.dir, file), Size: int64(len(content)), Mode: 0o600, ModTime: w.manifest.MadeAt,
	})
	if err == nil {
		_, err = w.files.Write(content)
	}
	return err
}

// Close writes the manifest and ends the bundle.
func (w *Writer) Close() (Manifest, error) {
	text, err := json.MarshalIndent(w.manifest, "", "  ")
	if err != nil {
		return w.manifest, err
	}
	if err := w.write(ManifestName, append(text, '\n')); err != nil {
		return w.manifest, err
	}
	if err := w.files.Close(); err != nil {
		return w.manifest, err
	}
	return w.manifest, w.zip.Close()
}
