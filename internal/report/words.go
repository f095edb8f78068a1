package report

import "fmt"

// Percent writes a share of one, from 0 to 1, as a person reads it: "87 %". What
// is small but not zero is not called zero ("<1 %"), and what is not certain is
// not called certain (">99 %").
func Percent(share float64) string {
	switch {
	case share > 0 && share < 0.01:
		return "<1 %"
	case share > 0.99 && share < 1:
		return ">99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

// ClassName spells the class of an onset as people say it: "NaN" for "nan",
// "+Inf" for "posinf", "-Inf" for "neginf". Any other, such as "huge", is
// returned as it is; text of a dump must still be made harmless.
func ClassName(class string) string {
	switch class {
	case "nan":
		return "NaN"
	case "posinf":
		return "+Inf"
	case "neginf":
		return "-Inf"
	}
	return class
}
