package main

func greeting() string { return "words" }

func main() { println(greeting()) }
