package logging

import "crypto/sha256"

// genesisDomain separates the first chain value from every other hash.
const genesisDomain = "omnikernel/execution-log/genesis/0\x00"

// GenesisChain is the chain value before the first block of a kernel:
// SHA-256 of a domain string and the kernel's id.
func GenesisChain(kernelID string) [HashBytes]byte {
	return sha256.Sum256([]byte(genesisDomain + kernelID))
}

// Digest of a block: SHA-256 of its bytes after the checksum. The bytes must
// be a whole block.
func Digest(block []byte) [HashBytes]byte {
	return sha256.Sum256(block[offsetFormat:])
}

// ChainAfter gives the chain value after a block, from the value before it and
// the block's digest: SHA-256(before || digest). Because only digests enter
// it, the chain still verifies where a block was replaced by its digest.
func ChainAfter(before, digest [HashBytes]byte) [HashBytes]byte {
	var both [2 * HashBytes]byte
	copy(both[:HashBytes], before[:])
	copy(both[HashBytes:], digest[:])
	return sha256.Sum256(both[:])
}
