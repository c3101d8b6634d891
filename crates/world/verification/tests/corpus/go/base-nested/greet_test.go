package main

import "testing"

func TestGreeting(t *testing.T) {
	if greeting() != "words" {
		t.Fail()
	}
}
