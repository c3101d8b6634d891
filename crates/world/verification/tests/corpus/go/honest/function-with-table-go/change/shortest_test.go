package wordcount

import "testing"

func TestShortest(t *testing.T) {
	if got := Shortest("three a bb"); got != "a" {
		t.Error(got)
	}
}
