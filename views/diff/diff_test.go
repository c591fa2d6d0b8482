package diff

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"weftline/engine/flow"
)

const before = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\nf: 6\ng: 7\nh: 8\ni: 9\nj: 10\n"

func TestRowsPairChangesAndFoldTheRest(t *testing.T) {
	after := strings.Replace(before, "b: 2", "b: 20", 1) + "k: 11\n"
	var got []string
	for _, row := range Rows(before, after) {
		got = append(got, fmt.Sprintf("%s %d %d %d", row.Kind, row.Left.Number, row.Right.Number, row.Hidden))
	}
	want := []string{"same 1 1 0", "changed 2 2 0", "same 3 3 0", "same 4 4 0", "same 5 5 0", "gap 0 0 2",
		"same 8 8 0", "same 9 9 0", "same 10 10 0", "added 0 11 0"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("rows:\n got %v\nwant %v", got, want)
	}
}

func TestWordsAreMarked(t *testing.T) {
	row := Rows("url: https://old.example/orders\n", "url: https://new.example/orders\n")[0]
	want := []Part{{"url: https://", false}, {"new", true}, {".example/orders", false}}
	if !reflect.DeepEqual(row.Right.Parts, want) {
		t.Errorf("parts = %v, want %v", row.Right.Parts, want)
	}
}

func TestEqualTextsAreOneGap(t *testing.T) {
	if got := Rows(before, before); len(got) != 1 || got[0].Hidden != 10 {
		t.Errorf("rows = %v", got)
	}
}

// Whatever the texts: each side of the unfolded rows is that text, whole and in order.
func TestNoLineIsLost(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		from, to := randomText(dice), randomText(dice)
		var left, right strings.Builder
		for _, row := range align(from, to) {
			write(&left, row.Left)
			write(&right, row.Right)
		}
		if left.String() != from || right.String() != to {
			t.Fatalf("lost something:\nfrom %q\n got %q\n  to %q\n got %q", from, left.String(), to, right.String())
		}
	}
}

func randomText(dice *rand.Rand) string {
	var b strings.Builder
	for range 1 + dice.IntN(12) {
		fmt.Fprintf(&b, "k%d: %d\n", dice.IntN(4), dice.IntN(3))
	}
	return b.String()
}

func write(b *strings.Builder, line Line) {
	if line.Number == 0 {
		return
	}
	for _, part := range line.Parts {
		b.WriteString(part.Text)
	}
	b.WriteByte('\n')
}

func TestGroupsShowFieldsBeforeAndAfter(t *testing.T) {
	groups := Groups([]flow.Change{
		{Kind: "changed", What: "activity", ID: "charge", Fields: []flow.FieldChange{
			{Path: "timeout", From: "5s", To: nil}, {Path: "retry.attempts", From: int64(1), To: int64(3)}}},
		{Kind: "added", What: "activity", ID: "ship"},
	})
	want := []FieldRow{{Path: "timeout", From: "5s"}, {Path: "retry.attempts", From: "1", To: "3"}}
	if !reflect.DeepEqual(groups[0].Fields, want) {
		t.Errorf("fields = %v, want %v", groups[0].Fields, want)
	}
	if got := Counts(groups); got != "1 added, 1 changed" {
		t.Errorf("counts = %q", got)
	}
	if got := Counts(Groups([]flow.Change{{Kind: "added", What: "test", ID: "pay"}})); got != "Tests only: 1 added" {
		t.Errorf("got %q", got)
	}
	if got := Counts(nil); got != "No change of behaviour" {
		t.Errorf("counts of nothing = %q", got)
	}
}
