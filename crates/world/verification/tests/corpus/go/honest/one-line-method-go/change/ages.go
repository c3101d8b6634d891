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

// Age is an age.
type Age int

// Next returns the age of the next year.
func (a Age) Next() Age { return a + 1 }

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
