package scan_test

import (
	"fmt"
	"math"

	"github.com/nanguard/nanguard/detect/scan"
	"github.com/nanguard/nanguard/tensor"
)

func ExampleHost() {
	ref := tensor.RefOf([]float64{1, -4, 2, math.Inf(1), 3, math.NaN()}, 3, 2)
	s := scan.Host(ref)
	fmt.Println(s.NaN, s.PosInf, s.NegInf)
	fmt.Println(s.AbsMax, "in row", s.ArgMax, "mean", s.Mean)
	fmt.Println(s.First.Class, "at", s.First.Row, s.First.Col, "in", s.First.Rows, "rows")
	fmt.Println(scan.AllFinite(ref), scan.BadRows(nil, ref))
	// Output:
	// 1 1 0
	// 4 in row 0 mean 0.5
	// posinf at 1 1 in 2 rows
	// false [1 2]
}
