package flow

import (
	"fmt"
	"reflect"
	"slices"
)

// testPart is a case of a WorkflowTest as plain values. It is known by its name; of cases with one name the later
// ones are numbered.
type testPart struct {
	name   string
	fields map[string]any
}

func testParts(c *checker, beside []*document) []testPart {
	var all []testPart
	seen := map[string]int{}
	for _, doc := range beside {
		if doc.root.get("kind").text() != "WorkflowTest" {
			continue
		}
		c.check(doc.root, group(testObject))
		for _, n := range items(doc.root.at("spec", "cases")) {
			fields, ok := c.canonical(n).(map[string]any)
			if !ok {
				continue
			}
			name, _ := fields["name"].(string)
			delete(fields, "name")
			if seen[name]++; seen[name] > 1 {
				name = fmt.Sprintf("%s (%d)", name, seen[name])
			}
			all = append(all, testPart{name, fields})
		}
	}
	return all
}

// tests reports cases that came, went, changed, or have another name. Their order means nothing.
func (d *differ) tests(from, to []testPart) {
	gone, fresh := othersThan(to, from), othersThan(from, to)
	for _, old := range gone {
		same := slices.IndexFunc(fresh, func(now testPart) bool { return reflect.DeepEqual(now.fields, old.fields) })
		if same < 0 {
			d.add("removed", "test", old.name, fieldChanges("", old.fields, nil))
			continue
		}
		d.add("renamed", "test", fresh[same].name, []FieldChange{{Path: "name", From: old.name, To: fresh[same].name}})
		fresh = slices.Delete(fresh, same, same+1)
	}
	for _, now := range to {
		if i := slices.IndexFunc(from, now.isNamed); i >= 0 {
			if fields := fieldChanges("", from[i].fields, now.fields); len(fields) > 0 {
				d.add("changed", "test", now.name, fields)
			}
		}
	}
	for _, now := range fresh {
		d.add("added", "test", now.name, fieldChanges("", nil, now.fields))
	}
}

// othersThan are the cases with names that those known do not have.
func othersThan(known, cases []testPart) []testPart {
	return slices.DeleteFunc(slices.Clone(cases), func(each testPart) bool { return slices.ContainsFunc(known, each.isNamed) })
}

func (t testPart) isNamed(other testPart) bool { return t.name == other.name }
