// Package wordcount counts words of texts.
package wordcount

import "strings"

// Count returns how often each word occurs, without regard to case.
func Count(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		counts[strings.Trim(word, ".,;!?")]++
	}
	return counts
}

// Letters are letters.
type Letters string

// Initials returns the first letters.
func Initials(text string) Letters {
	var letters Letters
	for _, word := range strings.Fields(text) {
		letters += Letters(word[:1])
	}
	return letters
}

// Longest returns the first of the longest words.
func Longest(text string) string {
	longest := ""
	for _, word := range strings.Fields(text) {
		if len(word) > len(longest) {
			longest = word
		}
	}
	return longest
}
