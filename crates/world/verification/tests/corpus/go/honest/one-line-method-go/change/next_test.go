package ages

import "testing"

func TestNext(t *testing.T) {
	if got := Age(3).Next(); got != 4 {
		t.Error(got)
	}
}
