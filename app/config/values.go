package config

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Each type here is a flag.Value over a field of Config; Set("") empties it.

type text string

func (v *text) String() string     { return string(*v) }
func (v *text) Set(s string) error { *v = text(s); return nil }

type number int

func (v *number) String() string { return strconv.Itoa(int(*v)) }
func (v *number) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return errors.New("must be a whole number")
	}
	*v = number(n)
	return nil
}

type onOff bool

func (v *onOff) String() string {
	if *v {
		return "on"
	}
	return "off"
}

func (v *onOff) Set(s string) error {
	switch strings.ToLower(s) {
	case "on", "true", "yes", "1":
		*v = true
	case "off", "false", "no", "0", "":
		*v = false
	default:
		return errors.New("must be on or off")
	}
	return nil
}

type duration time.Duration

func (v *duration) String() string {
	text := time.Duration(*v).String()
	for _, zero := range []string{"0s", "0m"} { // 8h0m0s is 8h
		if rest, ok := strings.CutSuffix(text, zero); ok && rest != "" && (rest[len(rest)-1] == 'm' || rest[len(rest)-1] == 'h') {
			text = rest
		}
	}
	return text
}

func (v *duration) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		return errors.New("must be a duration such as 500ms, 90s or 1h30m")
	}
	*v = duration(d)
	return nil
}

// size counts bytes and is written with a binary unit.
type size int

var units = []struct {
	name  string
	bytes int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

func (v *size) String() string {
	for _, u := range units {
		if int(*v) >= u.bytes && int(*v)%u.bytes == 0 {
			return strconv.Itoa(int(*v)/u.bytes) + u.name
		}
	}
	return "0B"
}

func (v *size) Set(s string) error {
	digits := strings.TrimRight(s, "GMKiB")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return errors.New("must be a size such as 512KiB or 16MiB")
	}
	unit := s[len(digits):]
	for _, u := range units {
		if unit == u.name || (unit == "" && u.name == "B") {
			if n > (1<<62)/u.bytes {
				return errors.New("is too large")
			}
			*v = size(n * u.bytes)
			return nil
		}
	}
	return fmt.Errorf("has unit %q: use B, KiB, MiB or GiB", unit)
}

// fields splits at commas. Nothing between two of them is a slip, and would quietly be another list.
func fields(s string) ([]string, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	parts := strings.Split(s, ",")
	for i, part := range parts {
		if parts[i] = strings.TrimSpace(part); parts[i] == "" {
			return nil, fmt.Errorf("has nothing at place %d of its list", i+1)
		}
	}
	return parts, nil
}

// names is a list of words.
type names []string

func (v *names) String() string { return strings.Join(*v, ",") }

func (v *names) Set(s string) (err error) {
	*v, err = fields(s)
	return err
}

// ranges is a set of whole numbers from 0, written as 0-15,20.
type ranges []int

func (v *ranges) String() string {
	var parts []string
	for i := 0; i < len(*v); {
		first, last := (*v)[i], (*v)[i]
		for i++; i < len(*v) && (*v)[i] == last+1; i++ {
			last++
		}
		part := strconv.Itoa(first)
		if last > first {
			part += "-" + strconv.Itoa(last)
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, ",")
}

func (v *ranges) Set(s string) error {
	parts, err := fields(s)
	if err != nil {
		return err
	}
	made := ranges{}
	for _, part := range parts {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		first, err := strconv.Atoi(low)
		last, errLast := strconv.Atoi(high)
		if err != nil || errLast != nil || first < 0 || last < first || last >= maxPartitions {
			return fmt.Errorf("has %q: write numbers and ranges such as 0-15,20", part)
		}
		for n := first; n <= last; n++ {
			made = append(made, n)
		}
	}
	slices.Sort(made)
	*v = slices.Compact(made)
	return nil
}

type pairs map[string]string

func (v *pairs) String() string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(*v)) {
		parts = append(parts, key+"="+(*v)[key])
	}
	return strings.Join(parts, ",")
}

func (v *pairs) Set(s string) error {
	parts, err := fields(s)
	if err != nil {
		return err
	}
	made := pairs{}
	for _, part := range parts {
		key, value, ok := strings.Cut(part, "=")
		if !ok || key == "" {
			return fmt.Errorf("has %q: each label is key=value", part)
		}
		if _, twice := made[key]; twice {
			return fmt.Errorf("names %q twice", key)
		}
		made[key] = value
	}
	*v = made
	return nil
}

type prefixes []netip.Prefix

func (v *prefixes) String() string {
	var parts []string
	for _, p := range *v {
		parts = append(parts, p.String())
	}
	return strings.Join(parts, ",")
}

func (v *prefixes) Set(s string) error {
	parts, err := fields(s)
	if err != nil {
		return err
	}
	var made prefixes
	for _, part := range parts {
		p, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("has %q: each range is written as 10.0.0.0/8", part)
		}
		made = append(made, p.Masked())
	}
	*v = made
	return nil
}

// choice takes one of a few words.
type choice[T ~string] struct {
	field   *T
	allowed []T
}

func oneOf[T ~string](field *T, allowed ...T) *choice[T] { return &choice[T]{field, allowed} }

func (v *choice[T]) String() string {
	if v.field == nil { // package flag asks the zero value for its text
		return ""
	}
	return string(*v.field)
}

func (v *choice[T]) Set(s string) error {
	if !slices.Contains(v.allowed, T(s)) {
		return fmt.Errorf("must be one of %v", v.allowed)
	}
	*v.field = T(s)
	return nil
}

// selection takes any of a few words.
type selection struct {
	field   *[]string
	allowed []string
}

func someOf(field *[]string, allowed ...string) *selection { return &selection{field, allowed} }

func (v *selection) String() string {
	if v.field == nil {
		return ""
	}
	return strings.Join(*v.field, ",")
}

func (v *selection) Set(s string) error {
	words, err := fields(s)
	if err != nil {
		return err
	}
	for _, word := range words {
		if !slices.Contains(v.allowed, word) {
			return fmt.Errorf("has %q: choose among %s", word, strings.Join(v.allowed, ", "))
		}
	}
	*v.field = words
	return nil
}
