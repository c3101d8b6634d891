package ages

import (
	"errors"
	"testing"
)

func TestParse(t *testing.T) {
	if age, err := Parse("12"); age != 12 || err != nil {
		t.Error(age, err)
	}
	if _, err := Parse("x"); !errors.Is(err, ErrText) {
		t.Error(err)
	}
	if _, err := Parse("151"); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
}
