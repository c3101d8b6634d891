package wordcount

import "testing"

func TestIsPalindrome(t *testing.T) {
	if !IsPalindrome("anna") {
		t.Error("anna")
	}
}
