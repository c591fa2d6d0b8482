package engine

import (
	"encoding/json"
	"testing"
)

func TestTheNumbersOfAStoredErrorAreExact(t *testing.T) {
	got := storedError([]byte(`{"type":"x","message":"m","attempt":2,"detail":{"n":9007199254740993}}`))
	detail, err := json.Marshal(got.Detail)
	if err != nil || string(detail) != `{"n":9007199254740993}` || got.Type != "x" || got.Message != "m" || got.Attempt != 2 {
		t.Errorf("%+v, %s, %v", got, detail, err)
	}
	if got = storedError([]byte(`{"type":`)); got.Message == "" {
		t.Error("what cannot be read is passed over")
	}
}
