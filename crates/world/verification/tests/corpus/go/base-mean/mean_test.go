package mean

import "testing"

func check(ok bool) {
	if !ok {
		panic("wrong")
	}
}

func TestMean(t *testing.T) {
	check(Mean([]float64{1, 2}) == 1.5)
	check(Mean([]float64{3}) == 3)
	if float64(int(Mean([]float64{1, 3}))) != 2 {
		t.Error("2")
	}
}
