package value

// Raw is one value in canonical CBOR. It is immutable: nobody writes to its
// bytes once it exists. The zero Raw is no value and has kind Invalid.
type Raw []byte

// MaxDepth bounds how many lists and maps may be open at once (EX-10).
const MaxDepth = 64

// MaxInt bounds integers: |n| <= 2^53 (EX-10). Every integer in the range is
// exact in a float64, so every JSON reader reads it as we do.
const MaxInt = int64(1) << 53

// The smallest values. They are never written to.
var (
	Null      = Raw{0xf6}
	True      = Raw{0xf5}
	False     = Raw{0xf4}
	EmptyMap  = Raw{0xa0}
	EmptyList = Raw{0x80}
)

// Kind says which of the seven kinds of the data model a value has.
type Kind uint8

// The kinds. Invalid is the kind of bytes that are no value.
const (
	Invalid Kind = iota
	NullKind
	BoolKind
	IntKind
	FloatKind
	StringKind
	ListKind
	MapKind
)

var kindNames = [...]string{"invalid", "null", "boolean", "integer", "number", "text", "list", "map"}

// String returns the word that messages use for the kind.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return kindNames[Invalid]
}

// Kind of the value.
func (r Raw) Kind() Kind { return kindOf(r) }

// Bool returns the boolean; false when r is none.
func (r Raw) Bool() (b, ok bool) {
	rd := Reader{r}
	return rd.ReadBool()
}

// Int returns the integer; false when r is none.
func (r Raw) Int() (int64, bool) {
	rd := Reader{r}
	return rd.ReadInt()
}

// Float returns a number of either kind, integer or float; false when r is
// none. Integers within the model are exact.
func (r Raw) Float() (float64, bool) {
	rd := Reader{r}
	return rd.ReadFloat()
}

// Text returns a copy of the text; false when r is none.
func (r Raw) Text() (string, bool) {
	rd := Reader{r}
	return rd.ReadString()
}

// Len is the number of items of a list or of pairs of a map, and 0 for
// everything else.
func (r Raw) Len() uint64 {
	rd := Reader{r}
	if n, ok := rd.ReadListHeader(); ok {
		return n
	}
	n, _ := rd.ReadMapHeader()
	return n
}

// Get returns the member of a map under key; false when r is no map or has no
// such member. The search is linear and stops where the key would have stood.
func (r Raw) Get(key string) (Raw, bool) {
	rd := Reader{r}
	n, ok := rd.ReadMapHeader()
	if !ok {
		return nil, false
	}
	for ; n > 0; n-- {
		k, ok := rd.ReadText()
		if !ok {
			return nil, false
		}
		if len(k) > len(key) {
			return nil, false
		}
		found := string(k) == key
		member := rd.Skip()
		if found {
			return member, member != nil
		}
	}
	return nil, false
}

// Depth is the largest number of lists and maps that are open at once inside
// r: 0 for a scalar, 1 for a list of scalars. It stops counting at
// MaxDepth + 1.
func (r Raw) Depth() int {
	rd := Reader{r}
	return rd.depth()
}
