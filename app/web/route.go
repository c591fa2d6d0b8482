package web

import (
	"github.com/gofiber/fiber/v2"

	"weftline/app/auth"
)

// Kind says how a route answers: it decides the form of its errors and how its credential is checked.
type Kind int

// The kinds of routes.
const (
	Page Kind = iota // HTML for a browser with a session
	API              // JSON under /api/v1, by token or session
	Ops              // health and metrics, for machines, without a credential
)

// Route is one line of the route table. There is no route beside the table: what a request needs, how its
// errors look and what the API document says all come from here.
type Route struct {
	Method, Path string
	Kind         Kind
	Needs        auth.Right // auth.Public: nobody is asked
	Handle       fiber.Handler
	MaxBody      int  // bytes; 0 = one payload and its envelope
	Costly       bool // computes a lot for one request: each user may ask less often

	// What the API document says; pages leave it empty.
	Says    string
	Takes   any      // an example value of the request's body, nil = none; text = a definition
	Answers any      // an example value of the answer, nil = none
	Status  int      // of a good answer, 0 = 200
	Query   []string // names of query parameters
}
