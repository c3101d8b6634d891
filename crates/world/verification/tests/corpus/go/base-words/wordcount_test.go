package wordcount

import "testing"

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
		if got := Count(c.text)[c.word]; got != c.count {
			t.Errorf("Count(%q)[%q] = %d, not %d", c.text, c.word, got, c.count)
		}
	}
}

func TestLongest(t *testing.T) {
	if got := Longest("one three two seven"); got != "three" {
		t.Errorf("Longest = %q", got)
	}
}
