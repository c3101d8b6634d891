package mean

import "testing"

func check(ok bool, name string) {
	if !ok {
		panic("wrong: " + name)
	}
}

func TestMean(t *testing.T) {
	check(Mean([]float64{1, 2}) == 1.5, "half")
	check(Mean([]float64{3}) == 3, "one")
}
