package wordcount

import "strings"

// Shout returns a text in capitals.
func Shout(text string) string {
	return strings.ToUpper(text)
}
