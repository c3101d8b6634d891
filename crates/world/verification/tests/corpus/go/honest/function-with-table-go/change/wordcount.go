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

// Shortest returns the first of the shortest words.
func Shortest(text string) string {
	shortest := ""
	for _, word := range strings.Fields(text) {
		if shortest == "" || len(word) < len(shortest) {
			shortest = word
		}
	}
	return shortest
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
