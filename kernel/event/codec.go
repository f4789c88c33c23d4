package event

import (
	"reflect"

	"github.com/fxamacker/cbor/v2"
)

// Bodies are canonical CBOR (RFC 8949 core deterministic) with integer keys.
// The decoder accepts no duplicate keys, no unknown fields, no indefinite
// lengths, no tags, no invalid UTF-8, and bounded sizes only. Another order of
// keys or a longer form of a number it does read: that is another body, and as
// a retry it is refused (CL-3).
var (
	encoder = must(cbor.CoreDetEncOptions().EncMode())
	decoder = must(decoding(cbor.ExtraDecErrorUnknownField).DecMode())
	lenient = must(decoding(cbor.ExtraDecErrorNone).DecMode()) // for what a newer version may have added to
)

func decoding(extra cbor.ExtraDecErrorCond) cbor.DecOptions {
	return cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		TagsMd:            cbor.TagsForbidden,
		ExtraReturnErrors: extra,
		MaxNestedLevels:   16,
		MaxArrayElements:  4096,
		MaxMapPairs:       4096,
		UTF8:              cbor.UTF8RejectInvalid,
		DefaultMapType:    reflect.TypeOf(map[string]any(nil)),
	}
}

func must[T any](mode T, err error) T {
	if err != nil {
		panic("event: cbor options: " + err.Error())
	}
	return mode
}

// Encode writes a body's canonical CBOR. Bodies are plain structs of this
// package, so it cannot fail.
func Encode(body any) []byte {
	if b, ok := appendBody(nil, body); ok {
		return b
	}
	return encodeByReflection(body)
}

func encodeByReflection(body any) []byte {
	b, err := encoder.Marshal(body)
	if err != nil {
		panic("event: a body that does not encode: " + err.Error())
	}
	return b
}

// DecodeBody reads a body; false when it is malformed. What it returns may alias
// b. Most bodies are canonical and of a frequent kind, and are read without
// reflection; the general decoder reads the others.
func DecodeBody[T any](b []byte) (*T, bool) {
	body := new(T)
	if frequent, ok := any(body).(readable); ok && frequent.read(b, false) {
		return body, true
	}
	return decodeReflected[T](b)
}

// ReadableBody tells whether DecodeBody reads a body, without building it where
// that can be told.
func ReadableBody[T any](b []byte) bool {
	var body T
	if frequent, ok := any(&body).(readable); ok && frequent.read(b, true) {
		return true
	}
	_, ok := decodeReflected[T](b)
	return ok
}

// DecodePart reads of a body what this binary knows, whatever else there is in it:
// to tell what a newer version wrote from what is damaged, and for nothing else.
func DecodePart[T any](b []byte) (*T, bool) {
	body := new(T)
	return body, lenient.Unmarshal(b, body) == nil
}

func decodeReflected[T any](b []byte) (*T, bool) {
	body := new(T)
	if decoder.Unmarshal(b, body) != nil {
		return nil, false
	}
	return body, true
}
