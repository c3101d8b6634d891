// Package trim trims words.
package trim

import "strings"

// Word returns a word without punctuation.
func Word(word string) string {
	return strings.Trim(word, ".,;!?")
}
