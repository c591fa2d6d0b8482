package web

import "github.com/a-h/templ"

// Routes is the pages' part of the route table.
func (p *Pages) Routes() []Route {
	return []Route{}
}

// ErrorPage is the page of a refusal or a fault.
func (p *Pages) ErrorPage(view View, failure Failure) templ.Component {
	return plainErrorPage(failure)
}
