// Package mean has means.
package mean

// Mean returns the mean.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, value := range values {
		sum += value
	}
	return sum / float64(len(values))
}
