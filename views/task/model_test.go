package task

import (
	"reflect"
	"testing"
)

func TestButtonsSayWhatTheyDo(t *testing.T) {
	for outcome, want := range map[string]string{
		"approved": "Approve", "rejected": "Reject", "declined": "Decline", "refused": "Refuse", "completed": "Complete",
		"granted": "Grant", "sent_back": "Send back", "escalated_to_board": "Escalate to board", "denied": "Deny",
		"confirmed": "Confirm", "fraud": "Fraud", "needs_work": "Needs work",
	} {
		if got := Verb(outcome); got != want {
			t.Errorf("Verb(%s) = %q, want %q", outcome, got, want)
		}
	}
	buttons := Buttons([]string{"approved", "rejected"})
	if !buttons[0].Good || buttons[1].Good {
		t.Errorf("the first outcome is the good one: %+v", buttons)
	}
}

func TestFlatDataIsReadLineByLine(t *testing.T) {
	data, ok := Data(map[string]any{"order_id": "o-1", "amount": int64(120), "urgent": true})
	want := []Datum{{"Amount", "120"}, {"Order id", "o-1"}, {"Urgent", "true"}}
	if !ok || !reflect.DeepEqual(data, want) {
		t.Errorf("data = %v (%v), want %v", data, ok, want)
	}
	for _, deep := range []any{map[string]any{"lines": []any{1}}, []any{1}, "text", nil} {
		if _, ok := Data(deep); ok {
			t.Errorf("%v is no flat object", deep)
		}
	}
}
