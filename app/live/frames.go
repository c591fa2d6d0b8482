package live

import (
	"encoding/json"

	"weftline/engine/execution"
)

// Subprotocol is the name of the live protocol in the WebSocket handshake.
const Subprotocol = "weftline.v1"

// Close codes of the protocol.
const (
	closeProtocol    = 4400
	closeAuthExpired = 4401
	closeTooSlow     = 4408
	closeLimits      = 4429
	closeRestart     = 1012
)

// fromClient is any frame that a client sends; Type says which fields count.
type fromClient struct {
	Type    string  `json:"type"` // hello, sub, unsub, at, visible, pong, auth
	SID     string  `json:"sid"`
	Topic   string  `json:"topic"`
	From    *cursor `json:"from"`
	Visible *bool   `json:"visible"`
	Ticket  string  `json:"ticket"`
	At      string  `json:"at"`      // with at: the id of the activity that is selected where sid is open in the designer, "" = none
	Editing bool    `json:"editing"` // with sub of workflow:<name>: the subscriber has it open in the designer
}

// cursor is how far a client has come in a topic.
type cursor struct {
	Epoch string `json:"epoch"`
	Seq   int64  `json:"seq"`
}

// Frames to the client. Each says its type first.
type (
	welcomeFrame struct {
		Type        string `json:"type"` // welcome
		ConnID      string `json:"connId"`
		Epoch       string `json:"epoch"`
		Now         string `json:"now"`
		PingSeconds int    `json:"pingSeconds"`
		Pointers    bool   `json:"pointers"` // frames of type at are understood; an older replica would hang up
	}
	snapFrame struct {
		Type  string          `json:"type"` // snap
		SID   string          `json:"sid"`
		Seq   int64           `json:"seq"`
		State json.RawMessage `json:"state"`
	}
	eventsFrame struct {
		Type   string            `json:"type"` // ev
		SID    string            `json:"sid"`
		Prev   int64             `json:"prev"`
		Seq    int64             `json:"seq"`
		Events []execution.Event `json:"events"` // prev+1..seq
	}
	lagFrame struct {
		Type string `json:"type"` // lag
		SID  string `json:"sid"`
		Head int64  `json:"head"`
	}
	resyncFrame struct {
		Type   string `json:"type"` // resync; a snap follows
		SID    string `json:"sid"`
		Reason string `json:"reason"`
	}
	errorFrame struct {
		Type string `json:"type"` // err
		SID  string `json:"sid,omitempty"`
		Code string `json:"code"`
	}
	byeFrame struct {
		Type    string `json:"type"` // bye
		Code    int    `json:"code"`
		RetryMs int    `json:"retryMs"`
	}
	pingFrame struct {
		Type  string           `json:"type"` // ping
		T     string           `json:"t"`
		Heads map[string]int64 `json:"heads"` // by sid
	}
)
