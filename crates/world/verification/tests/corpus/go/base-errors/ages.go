// Package ages reads ages.
package ages

import (
	"errors"
	"strconv"
)

// ErrText and ErrRange say what is wrong.
var (
	ErrText  = errors.New("not a number")
	ErrRange = errors.New("out of range")
)

// Parse reads an age.
func Parse(text string) (int, error) {
	age, err := strconv.Atoi(text)
	if err != nil {
		return 0, ErrText
	}
	if age > 150 {
		return 0, ErrRange
	}
	return age, nil
}
