package detect

import (
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// place is where in the loop a field is produced.
type place struct {
	stage dump.Stage
	clock dump.Clock
	order float64
}

// namedPlaces holds the names of the dump format, in the order in which a
// training loop produces them. Fields of equal order stand in the order of
// binding.
var namedPlaces = map[string]place{
	"ctrl":            {dump.StagePhysics, dump.ClockSubstep, 10},
	"ncon":            {dump.StageSolver, dump.ClockSubstep, 11},
	"contact.dist":    {dump.StageSolver, dump.ClockSubstep, 11.5},
	"nefc":            {dump.StageSolver, dump.ClockSubstep, 12},
	"solver_niter":    {dump.StageSolver, dump.ClockSubstep, 13},
	"solver_overflow": {dump.StageSolver, dump.ClockSubstep, 14},
	"qacc":            {dump.StagePhysics, dump.ClockSubstep, 15},
	"qacc_warmstart":  {dump.StageSolver, dump.ClockSubstep, 15.5}, // equals qacc after a substep: never before it
	"qvel":            {dump.StagePhysics, dump.ClockSubstep, 16},
	"qpos":            {dump.StagePhysics, dump.ClockSubstep, 17},
	"act":             {dump.StagePhysics, dump.ClockSubstep, 17.5},
	"sensordata":      {dump.StageSensor, dump.ClockSubstep, 18},

	"episode_step":      {dump.StageDone, dump.ClockStep, 28},
	"truncated":         {dump.StageDone, dump.ClockStep, 29},
	"done":              {dump.StageDone, dump.ClockStep, 29},
	"reward":            {dump.StageReward, dump.ClockStep, 35},
	"reward.normalized": {dump.StageReward, dump.ClockStep, 36},
	"obs":               {dump.StageObs, dump.ClockStep, 40},

	"normalizer.count": {dump.StageNormalizer, dump.ClockStep, 47},
	"normalizer.mean":  {dump.StageNormalizer, dump.ClockStep, 48},
	"normalizer.var":   {dump.StageNormalizer, dump.ClockStep, 49},
	"policy.mean":      {dump.StagePolicy, dump.ClockStep, 60},
	"policy.log_std":   {dump.StagePolicy, dump.ClockStep, 60.5},
	"policy.std":       {dump.StagePolicy, dump.ClockStep, 61},
	"policy.entropy":   {dump.StagePolicy, dump.ClockStep, 61.5},
	"action":           {dump.StagePolicy, dump.ClockStep, 62},
	"log_prob":         {dump.StagePolicy, dump.ClockStep, 63},
	"value":            {dump.StageValue, dump.ClockStep, 64},
	"return":           {dump.StageValue, dump.ClockUpdate, 66},
	"advantage":        {dump.StageValue, dump.ClockUpdate, 67},

	"reward.batch": {dump.StageReward, dump.ClockMinibatch, 70},
	"done.batch":   {dump.StageDone, dump.ClockMinibatch, 70},
	"value.next":   {dump.StageValue, dump.ClockMinibatch, 71},
	"alpha":        {dump.StageLoss, dump.ClockMinibatch, 79},
	"grad_norm":    {dump.StageGrad, dump.ClockMinibatch, 81},
	"lr":           {dump.StageLoss, dump.ClockMinibatch, 82},
	"log_ratio":    {dump.StageMonitor, dump.ClockMinibatch, 90},
	"kl":           {dump.StageMonitor, dump.ClockMinibatch, 91},
}

// prefixPlaces holds the families of names.
var prefixPlaces = []struct {
	prefix string
	place  place
}{
	{"model.", place{dump.StageModel, dump.ClockStep, 5}},
	{"termination.", place{dump.StageDone, dump.ClockStep, 28.5}},
	{"reward.", place{dump.StageReward, dump.ClockStep, 30}},
	{"obs.", place{dump.StageObs, dump.ClockStep, 40}},
	{"loss.", place{dump.StageLoss, dump.ClockMinibatch, 80}},
	{"grad.", place{dump.StageGrad, dump.ClockMinibatch, 80.5}},
	{"param.", place{dump.StageParam, dump.ClockMinibatch, 83}},
}

// normalizedPlace is that of "obs.<group>.normalized".
var normalizedPlace = place{dump.StageNormalizer, dump.ClockStep, 50}

// stagePlaces says where a field of a stage stands whose name says nothing:
// behind the named ones.
var stagePlaces = map[dump.Stage]place{
	dump.StageModel:      {dump.StageModel, dump.ClockStep, 6},
	dump.StageSolver:     {dump.StageSolver, dump.ClockSubstep, 14.5},
	dump.StagePhysics:    {dump.StagePhysics, dump.ClockSubstep, 17.8},
	dump.StageSensor:     {dump.StageSensor, dump.ClockSubstep, 19},
	dump.StageDone:       {dump.StageDone, dump.ClockStep, 29.5},
	dump.StageReward:     {dump.StageReward, dump.ClockStep, 37},
	dump.StageObs:        {dump.StageObs, dump.ClockStep, 45},
	dump.StageNormalizer: {dump.StageNormalizer, dump.ClockStep, 51},
	dump.StagePolicy:     {dump.StagePolicy, dump.ClockStep, 63.5},
	dump.StageValue:      {dump.StageValue, dump.ClockStep, 65},
	dump.StageLoss:       {dump.StageLoss, dump.ClockMinibatch, 80},
	dump.StageGrad:       {dump.StageGrad, dump.ClockMinibatch, 81.5},
	dump.StageParam:      {dump.StageParam, dump.ClockMinibatch, 84},
	dump.StageMonitor:    {dump.StageMonitor, dump.ClockMinibatch, 95},
}

// placeOf returns where the field of a name stands, and whether the name says
// so.
func placeOf(name string) (place, bool) {
	if p, ok := namedPlaces[name]; ok {
		return p, true
	}
	if strings.HasPrefix(name, "obs.") && strings.HasSuffix(name, ".normalized") {
		return normalizedPlace, true
	}
	for _, f := range prefixPlaces {
		if strings.HasPrefix(name, f.prefix) {
			return f.place, true
		}
	}
	return place{}, false
}

// locate returns the place of a field: what the options say, then what the name
// says, then what is usual for the stage.
func locate(name string, o FieldOptions) (place, error) {
	p, ok := placeOf(name)
	if o.Stage != "" && o.Stage != p.stage {
		if p, ok = stagePlaces[o.Stage]; !ok {
			return p, misuse("bind", name, "unknown stage %q", o.Stage)
		}
	}
	if !ok {
		return p, misuse("bind", name, "the name does not say where in the loop the field is produced: set FieldOptions.Stage")
	}
	if o.Clock != "" {
		p.clock = o.Clock
	}
	if clockIndex(p.clock) < 0 {
		return p, misuse("bind", name, "unknown clock %q", p.clock)
	}
	if o.Order != 0 {
		p.order = o.Order
	}
	return p, nil
}

// clocks are the clocks of a guard.
var clocks = [...]dump.Clock{dump.ClockSubstep, dump.ClockStep, dump.ClockMinibatch, dump.ClockUpdate}

// clockIndex returns the index of c in clocks, -1 when it is none of them.
func clockIndex(c dump.Clock) int {
	for i, k := range clocks {
		if k == c {
			return i
		}
	}
	return -1
}
