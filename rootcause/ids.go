package rootcause

// FeatureID names a feature as docs/causes.md does.
type FeatureID string

// The features: those of the brief's table, then the others.
const (
	F1  FeatureID = "F1"
	F2  FeatureID = "F2"
	F3  FeatureID = "F3"
	F4  FeatureID = "F4"
	F5  FeatureID = "F5"
	F6  FeatureID = "F6"
	F7  FeatureID = "F7"
	F8  FeatureID = "F8"
	F9  FeatureID = "F9"
	F10 FeatureID = "F10"
	F11 FeatureID = "F11"
	F12 FeatureID = "F12"
	F13 FeatureID = "F13"
	F14 FeatureID = "F14"
	F15 FeatureID = "F15"

	X1  FeatureID = "X1"
	X2  FeatureID = "X2"
	X3  FeatureID = "X3"
	X4  FeatureID = "X4"
	X5  FeatureID = "X5"
	X6  FeatureID = "X6"
	X7  FeatureID = "X7"
	X8  FeatureID = "X8"
	X9  FeatureID = "X9"
	X10 FeatureID = "X10"
	X11 FeatureID = "X11"
	X12 FeatureID = "X12"
	X13 FeatureID = "X13"
	X14 FeatureID = "X14"
	X15 FeatureID = "X15"
	X16 FeatureID = "X16"
	X17 FeatureID = "X17"
	X18 FeatureID = "X18"
	X19 FeatureID = "X19"
	X20 FeatureID = "X20"
	X21 FeatureID = "X21"
	X22 FeatureID = "X22"
	X23 FeatureID = "X23"
	X24 FeatureID = "X24"
	X25 FeatureID = "X25"
)
