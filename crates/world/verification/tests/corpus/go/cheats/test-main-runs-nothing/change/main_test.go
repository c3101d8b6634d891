package wordcount

import "testing"

func TestMain(m *testing.M) {
}
