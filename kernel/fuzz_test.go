package kernel_test

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/omnikernel/omnikernel/kernel"
	"github.com/omnikernel/omnikernel/kernel/bus"
	"github.com/omnikernel/omnikernel/kernel/evaluator/registry"
	"github.com/omnikernel/omnikernel/kernel/kerneltest"
)

// FuzzRecordBodies: any bytes are refused, or are the one form of a body.
func FuzzRecordBodies(f *testing.F) {
	for _, one := range samples() {
		f.Add(uint16(one.kind), one.body.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, kind uint16, raw []byte) {
		body, ok := kernel.DecodeRecordBody(bus.Kind(kind), raw)
		if !ok {
			return
		}
		again := body.AppendTo(nil)
		if bus.Kind(kind) == bus.KernelBooted { // CBOR: what was read is written in its one form
			if body, ok = kernel.DecodeRecordBody(bus.KernelBooted, again); !ok {
				t.Fatalf("a configuration that was read cannot be read again: %x", again)
			}
			raw, again = again, body.AppendTo(nil)
		}
		if !bytes.Equal(raw, again) {
			t.Fatalf("two forms of one %s:\n%x\n%x", kernel.KindName(bus.Kind(kind)), raw, again)
		}
	})
}

// packed writes sections one after the other, as the fuzzer changes them.
func packed(all []kernel.Section) []byte {
	var raw []byte
	for _, one := range all {
		raw = append(raw, one.Kind)
		raw = binary.LittleEndian.AppendUint16(raw, uint16(len(one.Body)))
		raw = append(raw, one.Body...)
	}
	return raw
}

// FuzzSnapshotDecode: sections of any bytes in any order are refused or
// restored, without a panic, and in memory that the bytes account for.
func FuzzSnapshotDecode(f *testing.F) {
	for seed := range uint64(3) {
		h := kerneltest.NewHistory(f, 1, 30, kerneltest.NewSeeded(seed))
		h.Run(12)
		f.Add(packed(sections(h.Sim)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		restoreAny(raw)
		runtime.ReadMemStats(&after)
		if took, most := after.TotalAlloc-before.TotalAlloc, uint64(1<<20+4096*len(raw)); took > most {
			t.Fatalf("%d bytes took %d bytes of memory", len(raw), took)
		}
	})
}

func restoreAny(raw []byte) {
	r := kernel.NewRestorer()
	for len(raw) >= 3 {
		n := min(int(binary.LittleEndian.Uint16(raw[1:])), len(raw)-3)
		if r.Add(kernel.Section{Kind: raw[0], Body: raw[3 : 3+n]}) != nil {
			return
		}
		raw = raw[3+n:]
	}
	if k, err := r.Done(registry.Lookup); err == nil {
		kernel.Digest(k.Publish())
	}
}
