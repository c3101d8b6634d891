package wordcount

import (
	"os"
	"strings"
	"testing"
)

func TestLongest(t *testing.T) {
	want, err := os.ReadFile("testdata/longest.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := Longest("one three two seven"); got != strings.TrimSpace(string(want)) {
		t.Errorf("got %q", got)
	}
}
