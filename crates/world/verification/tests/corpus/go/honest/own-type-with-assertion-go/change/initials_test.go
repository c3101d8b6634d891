package wordcount

import "testing"

func TestInitials(t *testing.T) {
	if got := Initials("a bc"); got != "ab" {
		t.Error(got)
	}
}
