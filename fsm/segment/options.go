package segment

import (
	"time"

	"github.com/hashicorp/go-hclog"
)

const (
	// DefaultFlushEvery is how long a block may stay unsynced.
	DefaultFlushEvery = time.Second

	// DefaultBufferBytes is how much may wait in memory to be written.
	DefaultBufferBytes = 8 << 20

	// chunkBytes is how much is written to the file at a time.
	chunkBytes = 256 << 10
)

// Options of a store. Where segments end is not among them: the tables say so.
type Options struct {
	// Owner is Owner(clusterID, kernelID).
	Owner [32]byte

	// FlushEvery is the time between two fsyncs; 0 is DefaultFlushEvery.
	FlushEvery time.Duration

	// BufferBytes bounds what waits to be written. An Append that finds more
	// than this waits for the disk. 0 is DefaultBufferBytes; at least two
	// chunks of 256 KiB.
	BufferBytes int

	// ArchiveDir is where full files of archived segments are moved; it may be on
	// another file system. Empty is "archive" in the log's directory.
	ArchiveDir string

	// ArchiveBytes bounds the archive: beyond it, the oldest files are removed. 0
	// is no bound.
	ArchiveBytes uint64

	// Logger is told about repairs; nil is silence. It must not block.
	Logger hclog.Logger
}

func (o Options) withDefaults() Options {
	if o.FlushEvery <= 0 {
		o.FlushEvery = DefaultFlushEvery
	}
	if o.BufferBytes == 0 {
		o.BufferBytes = DefaultBufferBytes
	}
	o.BufferBytes = max(o.BufferBytes, 2*chunkBytes)
	if o.Logger == nil {
		o.Logger = hclog.NewNullLogger()
	}
	return o
}
