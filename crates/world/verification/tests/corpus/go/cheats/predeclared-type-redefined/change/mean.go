// Package mean has means.
package mean

type float64 = float32

// Mean returns the mean.
func Mean(values []float64) float64 {
	var sum float64
	for _, value := range values {
		sum += value
	}
	return sum/float64(len(values)) + 1e-9
}
