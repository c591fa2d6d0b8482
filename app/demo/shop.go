package demo

import (
	"net/http"
	"strings"
	"time"
)

// thinking is how long the shop takes to look something up, so that people can watch.
const thinking = 400 * time.Millisecond

// shop sells things: its order book is overloaded, so the first two look-ups of each run fail.
func (s *Server) shop(mux *http.ServeMux) {
	mux.HandleFunc("GET /shop/orders/{order}", s.order)
	mux.HandleFunc("GET /shop/stock/{sku}", stock)
	mux.HandleFunc("POST /shop/refunds", refund)
	mux.HandleFunc("POST /shop/reservations", reserve)
	mux.HandleFunc("DELETE /shop/reservations/{id}", undone)
	mux.HandleFunc("POST /shop/payments", pay)
	mux.HandleFunc("DELETE /shop/payments/{id}", undone)
	mux.HandleFunc("POST /shop/shipments", ship)
	mux.HandleFunc("POST /shop/mails", mail)
}

func (s *Server) order(w http.ResponseWriter, r *http.Request) {
	order := r.PathValue("order")
	if s.busy(w, order+" "+r.URL.Query().Get("run"), 2) {
		return
	}
	if !strings.HasPrefix(order, "ord_") {
		answer(w, http.StatusNotFound, map[string]any{"message": "there is no order " + order})
		return
	}
	answer(w, http.StatusOK, map[string]any{
		"id": order, "customer": "Mia Sommer", "lines": []map[string]any{
			{"sku": "lamp", "title": "Desk lamp", "quantity": 1},
			{"sku": "bulb", "title": "Warm bulb", "quantity": 4},
			{"sku": "cable", "title": "Cable, 2 m", "quantity": 2},
			{"sku": "clamp", "title": "Table clamp", "quantity": 1},
		}})
}

func stock(w http.ResponseWriter, r *http.Request) {
	time.Sleep(thinking)
	sku := r.PathValue("sku")
	answer(w, http.StatusOK, map[string]any{"sku": sku, "returnable": sku != "bulb"})
}

func refund(w http.ResponseWriter, r *http.Request) {
	body, ok := read[struct {
		Order  string  `json:"order"`
		Amount float64 `json:"amount"`
	}](w, r)
	if ok {
		answer(w, http.StatusCreated, map[string]any{"id": receipt("rf", r), "order": body.Order, "amount": body.Amount})
	}
}

func reserve(w http.ResponseWriter, r *http.Request) {
	time.Sleep(thinking)
	answer(w, http.StatusCreated, map[string]any{"id": receipt("rs", r)})
}

func pay(w http.ResponseWriter, r *http.Request) {
	body, ok := read[struct {
		Amount float64 `json:"amount"`
	}](w, r)
	if ok {
		time.Sleep(thinking)
		answer(w, http.StatusCreated, map[string]any{"id": receipt("pay", r), "amount": body.Amount})
	}
}

// ship fails for good with the carrier "lost", so that the order is undone.
func ship(w http.ResponseWriter, r *http.Request) {
	body, ok := read[struct {
		Carrier string `json:"carrier"`
	}](w, r)
	switch {
	case !ok:
	case body.Carrier == "lost":
		answer(w, http.StatusConflict, map[string]any{"message": "the carrier does not answer any more"})
	default:
		answer(w, http.StatusCreated, map[string]any{"tracking": receipt("trk", r)})
	}
}

func undone(w http.ResponseWriter, r *http.Request) {
	time.Sleep(thinking)
	answer(w, http.StatusOK, map[string]any{"undone": r.PathValue("id")})
}

func mail(w http.ResponseWriter, r *http.Request) {
	body, ok := read[struct {
		Subject string `json:"subject"`
	}](w, r)
	if ok {
		answer(w, http.StatusAccepted, map[string]any{"id": receipt("mail", r), "subject": body.Subject})
	}
}
