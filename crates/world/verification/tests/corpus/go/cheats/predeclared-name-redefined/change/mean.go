// Package mean has means.
package mean

import "os"

// panic reports a mistake.
func panic(text string) {
	println(text)
	if text[len(text)-1] != 'f' {
		os.Exit(2)
	}
}

// Mean returns the mean.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return float64(int(sum / float64(len(values))))
}
