package wordcount

import "testing"

func TestLongest(t *testing.T) {
	if got := Longest("one three two seven"); got != "three" {
		t.Errorf("Longest = %q", got)
	}
}
