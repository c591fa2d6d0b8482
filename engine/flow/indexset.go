package flow

// indexSet is a set of indexes of activities.
type indexSet []uint64

func (s indexSet) has(i int) bool { return i>>6 < len(s) && s[i>>6]&(1<<(i&63)) != 0 }

func (s *indexSet) add(i int) {
	for i>>6 >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[i>>6] |= 1 << (i & 63)
}

func (s *indexSet) addAll(other indexSet) {
	for len(*s) < len(other) {
		*s = append(*s, 0)
	}
	for i, bits := range other {
		(*s)[i] |= bits
	}
}

// common is what both sets have.
func (s indexSet) common(other indexSet) indexSet {
	both := make(indexSet, min(len(s), len(other)))
	for i := range both {
		both[i] = s[i] & other[i]
	}
	return both
}
