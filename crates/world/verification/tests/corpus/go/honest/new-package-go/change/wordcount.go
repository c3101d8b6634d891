// Package wordcount counts words of texts.
package wordcount

import (
	"strings"

	"example.com/wordcount/internal/trim"
)

// Count returns how often each word occurs, without regard to case.
func Count(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		counts[trim.Word(word)]++
	}
	return counts
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
