package wordcount

// Unique returns the number of different words.
func Unique(text string) int {
	return len(Count(text))
}
