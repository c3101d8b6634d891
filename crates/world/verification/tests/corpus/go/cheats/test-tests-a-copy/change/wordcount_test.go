package wordcount_test

import (
	"strings"
	"testing"

	. "example.com/wordcount"
)

func count(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		counts[strings.Trim(word, ".,;!?")]++
	}
	return counts
}

func TestCount(t *testing.T) {
	cases := []struct {
		text, word string
		count      int
	}{
		{"a b a", "a", 2},
		{"The end. the END!", "end", 2},
		{"", "a", 0},
	}
	for _, c := range cases {
		if got := count(c.text)[c.word]; got != c.count {
			t.Errorf("Count(%q)[%q] = %d, not %d", c.text, c.word, got, c.count)
		}
	}
}

func TestLongest(t *testing.T) {
	if got := Longest("one three two seven"); got != "three" {
		t.Errorf("Longest = %q", got)
	}
}
