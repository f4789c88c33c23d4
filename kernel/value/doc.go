// Package value is the kernel's one representation of data: a value of the
// JSON data model as canonical CBOR bytes (EX-10, INV-11).
//
// # The model
//
// null, booleans, numbers, text, lists, and maps with text keys. Every value
// has exactly one encoding, so equal values are equal bytes and a digest of the
// bytes is a digest of the value. The encoding is RFC 8949 section 4.2.1, core
// deterministic, restricted to the model:
//
//	null f6, false f4, true f5
//	integer      major 0 or 1, shortest form, at most 2^53 away from zero
//	float        major 7, the shortest of 16, 32, 64 bits that keeps it exactly
//	text         major 3, definite length, valid UTF-8
//	list         major 4, definite length
//	map          major 5, definite length, text keys in ascending order of
//	             their encoded bytes (that is: shorter first, then bytewise),
//	             none twice
//
// No tags, no byte strings, no undefined, no indefinite lengths. At most 64
// lists and maps may be open at once; a scalar adds no depth.
//
// A number that is integral and at most 2^53 away from zero is always an
// integer: 1.0 is 1 and -0 is 0. Beyond 2^53 a float stays a float (6.02e23 is
// a legal value), while a number written as an integer is refused there: it
// could not keep all of its digits. NaN and the infinities are no values.
//
// # Who calls it, in which order
//
// Where bytes from outside enter, they pass FromJSON, FromGo or Check, each of
// which names the path and the broken rule in a Problem. From then on a Raw is
// trusted: it is stored, compared and forwarded without being looked at.
// Whoever needs the contents reads them with Get, Text, Int … or a Reader.
// Whoever makes a value on a hot path writes it with the Append functions,
// which do not allocate beyond the growth of dst.
//
// # What it never does
//
// It never changes a Raw, never follows a nesting deeper than MaxDepth with the
// goroutine's stack, never puts a library's words into a Problem, and never
// panics on bytes: the reading functions answer false on bytes that are no
// value. The Append functions panic on a number that is no value, since only
// our own code can hand them one.
package value
