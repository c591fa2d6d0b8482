package expr

import (
	"cmp"
	"math"
	"math/big"
	"strconv"
)

// Whole numbers are exact int64; a result that does not fit is an error, never a rounded value.

func isNumber(v any) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

func toFloat(v any) float64 {
	if i, ok := v.(int64); ok {
		return float64(i)
	}
	f, _ := v.(float64)
	return f
}

// compareNumbers is exact also between a large whole number and a fraction.
func compareNumbers(a, b any) int {
	x, whole := a.(int64)
	y, also := b.(int64)
	switch {
	case whole && also:
		return cmp.Compare(x, y)
	case !whole && !also:
		return cmp.Compare(a.(float64), b.(float64))
	case whole:
		return compareWhole(x, b.(float64))
	}
	return -compareWhole(y, a.(float64))
}

func compareWhole(i int64, f float64) int {
	const exact = 1 << 53
	if -exact <= i && i <= exact || math.IsInf(f, 0) || math.IsNaN(f) {
		return cmp.Compare(float64(i), f)
	}
	return new(big.Float).SetInt64(i).Cmp(big.NewFloat(f))
}

func overflow() *Error {
	return &Error{Code: CodeType, Message: "the result is too large for a number", Hint: "use float(x) where exactness does not matter"}
}

func finite(f float64) (any, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, overflow()
	}
	return f, nil
}

func add(f *frame, a, b any) (any, error) {
	if x, ok := a.(string); ok {
		if y, ok := b.(string); ok {
			return x + y, f.spend(len(x) + len(y))
		}
	}
	return arithmetic("+", a, b)
}

func arithmetic(operator string, a, b any) (any, error) {
	if !isNumber(a) || !isNumber(b) {
		hint := ""
		if _, text := a.(string); text && operator == "+" {
			hint = "use string(x) to join a text with it"
		}
		return nil, mismatch(operator, a, b, hint)
	}
	x, whole := a.(int64)
	y, also := b.(int64)
	if whole && also {
		return wholeArithmetic(operator, x, y)
	}
	u, v := toFloat(a), toFloat(b)
	switch operator {
	case "+":
		return finite(u + v)
	case "-":
		return finite(u - v)
	}
	return finite(u * v)
}

func wholeArithmetic(operator string, x, y int64) (any, error) {
	var z int64
	fits := true
	switch operator {
	case "+":
		z = x + y
		fits = (z > x) == (y > 0)
	case "-":
		z = x - y
		fits = (z < x) == (y > 0)
	case "*":
		z = x * y
		fits = x == 0 || (z/x == y && !(x == -1 && y == math.MinInt64))
	}
	if !fits {
		return nil, overflow()
	}
	return z, nil
}

func divide(a, b any) (any, error) {
	if !isNumber(a) || !isNumber(b) {
		return nil, mismatch("/", a, b, "")
	}
	if toFloat(b) == 0 {
		return nil, &Error{Code: CodeType, Message: "division by zero"}
	}
	return finite(toFloat(a) / toFloat(b))
}

func remainder(a, b any) (any, error) {
	x, ok := a.(int64)
	y, also := b.(int64)
	if !ok || !also {
		return nil, mismatch("%", a, b, "it works on two whole numbers")
	}
	if y == 0 {
		return nil, &Error{Code: CodeType, Message: "division by zero"}
	}
	if y == -1 {
		return int64(0), nil
	}
	return x % y, nil
}

// power is exact for whole numbers with a whole exponent that is not negative.
func power(a, b any) (any, error) {
	if !isNumber(a) || !isNumber(b) {
		return nil, mismatch("**", a, b, "")
	}
	x, whole := a.(int64)
	y, also := b.(int64)
	if !whole || !also || y < 0 {
		return finite(math.Pow(toFloat(a), toFloat(b)))
	}
	if x >= -1 && x <= 1 {
		y = min(y, 2-y%2) // 0, 1 and -1 repeat with the parity of the exponent
	}
	result := int64(1)
	for range y {
		next, err := wholeArithmetic("*", result, x)
		if err != nil {
			return nil, err
		}
		result = next.(int64)
	}
	return result, nil
}

// rational is the decimal a number is written as, so that 2.675 rounds as people round it.
func rational(v any) *big.Rat {
	if i, ok := v.(int64); ok {
		return new(big.Rat).SetInt64(i)
	}
	r, _ := new(big.Rat).SetString(strconv.FormatFloat(v.(float64), 'g', -1, 64))
	return r
}

// whole turns a float without fraction into an int64 when it fits.
func whole(f float64) (any, error) {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f), nil
	}
	return finite(f)
}

// numberText writes a number as JSON does: whole ones without ".0".
func numberText(v any) string {
	if i, ok := v.(int64); ok {
		return strconv.FormatInt(i, 10)
	}
	f := v.(float64)
	if size := math.Abs(f); f != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
