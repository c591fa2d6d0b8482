// Command weftline is the whole of Weftline in one binary: the web application with its durable engine,
// worker pools, and the tools for definitions on the command line.
package main

import (
	"os"

	"weftline/app/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.Terminal{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv, Environ: os.Environ()}))
}
