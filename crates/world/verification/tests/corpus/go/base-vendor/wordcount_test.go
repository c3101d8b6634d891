package wordcount

import (
	"testing"

	"example.com/check"
)

func TestCount(t *testing.T) {
	check.Equal(t, Count("The end. the END!")["end"], 2)
	check.Equal(t, Count("")["a"], 0)
}

func TestLongest(t *testing.T) {
	check.Equal(t, Longest("one three two seven"), "three")
}
