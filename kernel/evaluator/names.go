package evaluator

// Names that every program sees and none may bind.
const (
	nameInput = "input"
	nameEnv   = "env"
	nameAgent = "agent"
)

const nameRule = "a name is a letter or _, then letters, digits or _, at most 64 bytes"

// validName tells whether a variable can have this name, apart from the
// reserved ones.
func validName(name string) bool {
	if name == "" || len(name) > MaxNameBytes {
		return false
	}
	for i := range len(name) {
		c := name[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// reservedName tells whether expressions give the name a meaning of their own:
// what the kernel provides, and the words of the expression language.
func reservedName(name string) bool {
	switch name {
	case nameInput, nameEnv, nameAgent:
		return true
	case "True", "False", "None", "true", "false", "null", "and", "or", "not", "in", "if", "else", "for", "lambda":
		return true
	case "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "except",
		"finally", "from", "global", "import", "is", "load", "nonlocal", "pass", "raise", "return", "try",
		"while", "with", "yield":
		return true
	}
	return false
}
