package rootcause

// Diagnosis is the answer: what went bad first, the ranked causes and the
// ten-row checklist, each with its evidence.
type Diagnosis struct {
	// Verdict is a cause's id when one earned it, "unknown" when something is
	// wrong and no cause did, "clean" when nothing is wrong.
	Verdict  string       `json:"verdict"`
	Prior    string       `json:"prior"`    // what was believed before any evidence: "textbook", "field" or "uniform"
	Coverage float64      `json:"coverage"` // share of the features whose inputs were present, 0..1
	Causes   []Hypothesis `json:"causes"`   // descending
	// Shown holds the ids of Causes in the order of a report: the brief's five in
	// the order of its table, then the others by falling probability, then unknown.
	Shown    []string `json:"shown"`
	FirstBad *Onset   `json:"first_bad"`
	// Root is where it began: the precursor (huge or growing, still finite)
	// when there is one, else the same as FirstBad.
	Root      *Onset   `json:"root"`
	Order     []Onset  `json:"order"` // every bad field in tick order, precursors among them
	Checklist []Check  `json:"checklist"`
	Next      []Action `json:"next"`
	Warnings  []string `json:"warnings"`
}

// Hypothesis is one cause with its share of the belief.
type Hypothesis struct {
	ID          string     `json:"id"`
	Title       string     `json:"title"`
	Probability float64    `json:"probability"`
	Evidence    []Evidence `json:"evidence"`
	// Missing says what was not recorded and would have spoken for or against
	// the cause, the most telling first.
	Missing []string `json:"missing"`
	Fix     string   `json:"fix"`
}

// Evidence is one measured fact, in words, with where it was seen.
type Evidence struct {
	Feature FeatureID `json:"feature"` // F1..F15
	Text    string    `json:"text"`
	Favours string    `json:"favours"` // id of the cause that the fact speaks for
	Weight  float64   `json:"weight"`  // nats for (positive) or against (negative) the hypothesis it stands under
	Field   string    `json:"field"`
	Env     *int      `json:"env"`
	Col     *int      `json:"col"`
	Column  string    `json:"column,omitempty"`
	Tick    *int64    `json:"tick"`
}

// Onset is the first bad frame of one field.
type Onset struct {
	Field  string `json:"field"`
	Env    *int   `json:"env"`
	Col    int    `json:"col"`
	Column string `json:"column"`
	Tick   int64  `json:"tick"`
	Clock  string `json:"clock"`
	Count  int64  `json:"count"`
	Class  string `json:"class"` // "nan", "posinf", "neginf"; "huge", "growing", "negative" or "extreme" for a precursor
	Envs   int    `json:"envs_bad"`
}

// Status is what the dump says about one row of the checklist.
type Status string

// The statuses of a checklist row. Unknown is not evidence.
const (
	Implicated Status = "IMPLICATED"
	Cleared    Status = "CLEARED"
	Unknown    Status = "UNKNOWN"
)

// Check is one row of the ten-row priority table.
type Check struct {
	Row      int    `json:"row"`
	Check    string `json:"check"`
	Status   Status `json:"status"`
	Evidence string `json:"evidence"`
	Clears   string `json:"clears"` // what would have to be recorded, and how it would have to be
	Fix      string `json:"fix"`
	Cause    string `json:"cause"`
}

// Action is a recommended next step, the best first.
type Action struct {
	Text string `json:"text"`
	Row  int    `json:"row,omitempty"`
}
