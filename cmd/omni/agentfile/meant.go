package agentfile

// maxMeant is longer than any member that there is: comparing takes time.
const maxMeant = 32

// meant is the member that somebody had in mind who wrote another word: what the
// shape says that people write instead, or the known one that is nearest; empty when
// none is near.
func (s *Shape) meant(word string, known []string) string {
	if instead, ok := s.aliases[word]; ok {
		return instead
	}
	return Nearest(word, known)
}

// Nearest is the known word that is so near to another that it was meant; empty when
// none is.
func Nearest(word string, known []string) string {
	if len(word) > maxMeant {
		return ""
	}
	nearest, least := "", 1+min(2, len(word)/3)
	for _, name := range known {
		if d := distance(word, name); d < least {
			nearest, least = name, d
		}
	}
	return nearest
}

// distance counts the bytes to add, to take away, to replace, and the neighbours to
// swap, that make one word of another (optimal string alignment).
func distance(a, b string) int {
	before, above := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+differ(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(b)]
}

func differ(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
