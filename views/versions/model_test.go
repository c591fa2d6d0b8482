package versions

import (
	"context"
	"strings"
	"testing"
)

func TestADraftThatCannotBeReadIsNotCalledUnchanged(t *testing.T) {
	for _, c := range []struct {
		view Comparison
		want string
	}{
		{Comparison{Name: "a", To: "draft", Unread: true}, "Not a whole workflow yet"},
		{Comparison{Name: "a", From: "1", To: "draft"}, "No change of behaviour"},
	} {
		var page strings.Builder
		if err := Changes(c.view).Render(context.Background(), &page); err != nil || !strings.Contains(page.String(), c.want) {
			t.Errorf("%+v: %v, no %q", c.view, err, c.want)
		}
	}
}
