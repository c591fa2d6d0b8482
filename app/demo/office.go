package demo

import (
	"net/http"
	"time"
)

// office prepares for new colleagues. The wiki does not know how to add people, so somebody must do it.
func (s *Server) office(mux *http.ServeMux) {
	mux.HandleFunc("PUT /office/people/{person}", account)
	mux.HandleFunc("PUT /office/people/{person}/apps/{app}", grant)
	mux.HandleFunc("POST /office/shipments", equip)
	mux.HandleFunc("POST /office/desks", equip)
}

func account(w http.ResponseWriter, r *http.Request) {
	time.Sleep(thinking)
	answer(w, http.StatusOK, map[string]any{"person": r.PathValue("person"), "mailbox": r.PathValue("person") + "@example.com"})
}

func grant(w http.ResponseWriter, r *http.Request) {
	time.Sleep(thinking)
	if r.PathValue("app") == "wiki" {
		answer(w, http.StatusNotImplemented, map[string]any{"message": "the wiki adds people by hand only"})
		return
	}
	answer(w, http.StatusOK, map[string]any{"app": r.PathValue("app"), "granted": true})
}

func equip(w http.ResponseWriter, r *http.Request) {
	time.Sleep(thinking)
	answer(w, http.StatusCreated, map[string]any{"id": receipt("eq", r)})
}
