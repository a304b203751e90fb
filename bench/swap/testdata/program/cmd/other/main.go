// Command other is there so that the module has two programs.
package main

func main() {}
