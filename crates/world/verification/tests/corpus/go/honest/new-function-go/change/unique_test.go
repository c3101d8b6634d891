package wordcount

import "testing"

func TestUnique(t *testing.T) {
	if got := Unique("a b A"); got != 2 {
		t.Errorf("Unique = %d", got)
	}
}
