package wordcount

import "strings"

func split(text string) []string { return strings.Fields(strings.ToLower(text)) }
