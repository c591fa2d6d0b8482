package expr

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

var numberFunctions = map[string]function{
	"abs":          {[]Kind{Number}, 1, false, Number, absolute},
	"ceil":         {[]Kind{Number}, 1, false, Number, rounding(math.Ceil)},
	"floor":        {[]Kind{Number}, 1, false, Number, rounding(math.Floor)},
	"round":        {[]Kind{Number, Number}, 1, false, Number, round},
	"formatNumber": {[]Kind{Number, Number}, 2, false, Text, formatNumber},
	"int":          {[]Kind{Number | Text}, 1, false, Number, toInt},
	"float":        {[]Kind{Number | Text}, 1, false, Number, parseFloat},
	"min":          {[]Kind{Number | List}, 1, true, Number, extreme("min", -1)},
	"max":          {[]Kind{Number | List}, 1, true, Number, extreme("max", 1)},
	"mean":         {[]Kind{List}, 1, false, Number, mean},
	"median":       {[]Kind{List}, 1, false, Number, median},
}

func absolute(_ *frame, args []any) (any, error) {
	if f, ok := args[0].(float64); ok {
		return math.Abs(f), nil
	}
	if i := args[0].(int64); i >= 0 {
		return i, nil
	}
	return signed(args[0], true)
}

func rounding(how func(float64) float64) func(*frame, []any) (any, error) {
	return func(_ *frame, args []any) (any, error) {
		if i, ok := args[0].(int64); ok {
			return i, nil
		}
		return whole(how(args[0].(float64)))
	}
}

// digits is the second argument of round and formatNumber.
func digits(args []any) (int, error) {
	if len(args) < 2 {
		return 0, nil
	}
	n, ok := args[1].(int64)
	if !ok || n < 0 || n > 15 {
		return 0, &Error{Code: CodeType, Message: "the number of digits is a whole number from 0 to 15"}
	}
	return int(n), nil
}

// round goes to the nearest decimal, halves away from zero; without digits the result is a whole number.
func round(_ *frame, args []any) (any, error) {
	n, err := digits(args)
	if err != nil {
		return nil, err
	}
	if i, ok := args[0].(int64); ok {
		return i, nil
	}
	f, err := strconv.ParseFloat(rational(args[0]).FloatString(n), 64)
	if err != nil || n > 0 {
		return f, err
	}
	return whole(f)
}

func formatNumber(_ *frame, args []any) (any, error) {
	n, err := digits(args)
	if err != nil {
		return nil, err
	}
	return rational(args[0]).FloatString(n), nil
}

// toInt cuts the fraction of a number and reads a text that is a whole number.
func toInt(_ *frame, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64:
		return v, nil
	case float64:
		if v >= -(1<<63) && v < 1<<63 {
			return int64(v), nil
		}
		return nil, overflow()
	}
	text := strings.TrimSpace(args[0].(string))
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, &Error{Code: CodeType, Message: quote(text) + " is not a whole number"}
	}
	return i, nil
}

func parseFloat(_ *frame, args []any) (any, error) {
	if isNumber(args[0]) {
		return toFloat(args[0]), nil
	}
	text := strings.TrimSpace(args[0].(string))
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, &Error{Code: CodeType, Message: quote(text) + " is not a number"}
	}
	return f, nil
}

// numbersOf checks that a list has only numbers.
func numbersOf(f *frame, name string, list []any) ([]any, error) {
	for _, item := range list {
		if !isNumber(item) {
			return nil, &Error{Code: CodeType, Message: name + " works on numbers, the list has " + article(item)}
		}
	}
	return list, f.spend(8 * len(list))
}

// extreme is min (sign -1) and max (sign 1), of a list or of the arguments.
func extreme(name string, sign int) func(*frame, []any) (any, error) {
	return func(f *frame, args []any) (any, error) {
		list := args
		if first, ok := args[0].([]any); ok && len(args) == 1 {
			list = first
		}
		if _, err := numbersOf(f, name, list); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, &Error{Code: CodeType, Message: name + " of an empty list does not exist"}
		}
		best := list[0]
		for _, item := range list[1:] {
			if compareNumbers(item, best)*sign > 0 {
				best = item
			}
		}
		return best, nil
	}
}

func mean(f *frame, args []any) (any, error) {
	list, err := numbersOf(f, "mean", args[0].([]any))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &Error{Code: CodeType, Message: "mean of an empty list does not exist"}
	}
	total := 0.0
	for _, item := range list {
		total += toFloat(item)
	}
	return finite(total / float64(len(list)))
}

func median(f *frame, args []any) (any, error) {
	list, err := numbersOf(f, "median", args[0].([]any))
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, &Error{Code: CodeType, Message: "median of an empty list does not exist"}
	}
	sorted := slices.SortedFunc(slices.Values(list), compareNumbers)
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle], nil
	}
	return finite((toFloat(sorted[middle-1]) + toFloat(sorted[middle])) / 2)
}
