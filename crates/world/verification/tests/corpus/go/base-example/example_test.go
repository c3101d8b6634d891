package wordcount_test

import (
	"fmt"

	"example.com/wordcount"
)

func ExampleCount() {
	fmt.Println(wordcount.Count("The end. the END!")["end"])
	// Output: 2
}

func ExampleLongest() {
	fmt.Println(wordcount.Longest("one three two seven"))
	// Output: three
}
