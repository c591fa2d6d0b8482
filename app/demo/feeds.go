package demo

import (
	"fmt"
	"net/http"
	"time"
)

const feedCount = 12

// feeds delivers data of partners: the third fails now and then, the seventh has moved away for good.
func (s *Server) feeds(mux *http.ServeMux) {
	mux.HandleFunc("GET /feeds", listFeeds)
	mux.HandleFunc("GET /feeds/{code}", s.feed)
	mux.HandleFunc("POST /warehouse/days/{day}", publishDay)
}

func listFeeds(w http.ResponseWriter, _ *http.Request) {
	var list []map[string]any
	for number := 1; number <= feedCount; number++ {
		code := fmt.Sprintf("feed-%02d", number)
		list = append(list, map[string]any{"code": code, "url": "http://" + Host + "/feeds/" + code})
	}
	answer(w, http.StatusOK, map[string]any{"feeds": list})
}

func (s *Server) feed(w http.ResponseWriter, r *http.Request) {
	code := r.PathValue("code")
	var number int
	if _, err := fmt.Sscanf(code, "feed-%d", &number); err != nil || number < 1 || number > feedCount || number == 7 {
		answer(w, http.StatusNotFound, map[string]any{"message": "there is no " + code + " any more"})
		return
	}
	if number == 3 && s.busy(w, code+" "+r.URL.Query().Get("run"), 1) {
		return
	}
	time.Sleep(thinking)
	answer(w, http.StatusOK, map[string]any{"code": code, "rows": number * 120, "errors": number % 4})
}

func publishDay(w http.ResponseWriter, r *http.Request) {
	body, ok := read[struct {
		Rows int `json:"rows"`
	}](w, r)
	if ok {
		answer(w, http.StatusCreated, map[string]any{"day": r.PathValue("day"), "rows": body.Rows, "id": receipt("day", r)})
	}
}
