package rootcause

import (
	"strings"

	"github.com/nanguard/nanguard/dump"
)

// kind is the part that a field plays in the training loop.
type kind uint8

// The kinds of field, roughly in loop order.
const (
	other kind = iota
	modelArray
	counter // ncon, nefc, solver_niter: whole numbers of the solver
	ctrl
	qacc // and the warm start
	qvel
	qpos
	act
	force
	state // an undivided state vector of a dump without a model
	sensor
	obs
	normMean
	normVar
	obsNorm
	mean
	std
	logStd
	action
	logProb
	reward // the total
	term   // one term of it
	done
	value
	loss
	grad
	lr
	param
	paramStd // a raw std parameter: its sign counts
	monitor
	numKinds
)

// first-bad classes of F1.
const (
	onPhysics  = "phys"
	onSensor   = "sensor"
	onReward   = "reward"
	onObsNorm  = "obsnorm"
	onStd      = "std_logp"
	onLearner  = "loss_grad"
	onMultiple = "multi"
)

// part describes a kind: what it reads, which of these must be recorded for its
// inputs to count as known, and from where on a finite value has run away: above
// ratio times the field's own healthy size, and above floor in any case.
type part struct {
	reads []kind
	needs []kind
	ratio float64
	floor float64
	top   float64 // above it no value is healthy, whatever the field did before; 0 for none
	onset string  // class of F1
}

var body = []kind{qacc, qvel, qpos, act, force, state}

// loop is the training loop as data. The ratios and floors come from healthy
// runs of mjlab's Go1, G1 and cartpole tasks (qvel to 160 rad/s, qacc to 2.5e4
// rad/s², obs to 4e3, loss to 1e5) with a wide margin: a precursor must be
// implausible, not merely unusual.
var loop = [numKinds]part{
	modelArray: {onset: onPhysics, ratio: 1e6, floor: 1e10},
	ctrl:       {reads: []kind{action}, needs: []kind{action}, ratio: 1e3, floor: 1e3, top: 2e3, onset: onPhysics},
	qacc:       {reads: append([]kind{ctrl, action, modelArray}, body...), needs: []kind{ctrl, action}, ratio: 1e3, floor: 1e6, top: 1e7, onset: onPhysics},
	qvel:       {reads: append([]kind{ctrl, action, modelArray}, body...), needs: []kind{ctrl, action}, ratio: 100, floor: 300, top: 1e4, onset: onPhysics},
	qpos:       {reads: append([]kind{ctrl, action, modelArray}, body...), needs: []kind{ctrl, action}, ratio: 1e3, floor: 1e4, top: 1e6, onset: onPhysics},
	act:        {reads: append([]kind{ctrl, action, modelArray}, body...), needs: []kind{ctrl, action}, ratio: 1e4, floor: 1e4, onset: onPhysics},
	force:      {reads: append([]kind{ctrl, action, modelArray}, body...), needs: []kind{ctrl, action}, ratio: 1e5, floor: 1e8, onset: onPhysics},
	state:      {reads: append([]kind{ctrl, action, modelArray}, body...), needs: []kind{ctrl, action}, ratio: 100, floor: 300, top: 1e6, onset: onPhysics},
	sensor:     {reads: body, needs: []kind{qvel, qpos, state}, ratio: 1e4, floor: 1e6, onset: onSensor},
	obs:        {reads: append([]kind{sensor, action}, body...), needs: []kind{qvel, qpos, state}, ratio: 1e3, floor: 1e3, onset: onSensor},
	normMean:   {reads: []kind{obs}, needs: []kind{obs}, ratio: 1e4, floor: 1e6, onset: onObsNorm},
	normVar:    {reads: []kind{obs}, needs: []kind{obs}, ratio: 1e8, floor: 1e10, onset: onObsNorm},
	obsNorm:    {reads: []kind{obs, normMean, normVar}, needs: []kind{obs}, ratio: 50, floor: 1e3, onset: onObsNorm},
	mean:       {reads: []kind{obsNorm, obs, param}, needs: []kind{obsNorm, obs}, ratio: 1e3, floor: 1e3, top: 1e4, onset: onLearner},
	std:        {reads: []kind{paramStd, logStd, param, obsNorm}, needs: []kind{mean, obs, obsNorm}, ratio: 30, floor: 20, top: 1e3, onset: onStd},
	logStd:     {reads: []kind{lr}, needs: []kind{grad, loss, mean}, floor: 3.5, onset: onStd}, // e^3.5 is 33
	action:     {reads: []kind{mean, std, logStd, paramStd}, needs: []kind{mean}, ratio: 1e3, floor: 1e3, top: 1e4, onset: onStd},
	logProb:    {reads: []kind{mean, std, logStd, paramStd, action}, needs: []kind{mean, action}, ratio: 1e3, floor: 1e5, onset: onStd},
	term:       {reads: append([]kind{sensor, obs, action}, body...), needs: []kind{qvel, qpos, state, obs}, ratio: 1e4, floor: 1e4, onset: onReward},
	reward:     {reads: append([]kind{term, sensor, obs, action}, body...), needs: []kind{qvel, qpos, state, obs}, ratio: 1e4, floor: 1e4, onset: onReward},
	done:       {onset: onPhysics},
	value:      {reads: []kind{obs, obsNorm, param}, needs: []kind{obs, obsNorm}, ratio: 1e4, floor: 1e5, onset: onLearner},
	loss:       {reads: []kind{value, reward, term, logProb, mean, std, action, obs, obsNorm, param, paramStd, logStd}, needs: []kind{reward, value}, ratio: 1e5, floor: 1e6, onset: onLearner},
	grad:       {reads: []kind{loss, value, reward, term, logProb, mean, std, action, obs, obsNorm, param, paramStd, logStd}, needs: []kind{loss}, ratio: 1e5, floor: 1e6, onset: onLearner},
	lr:         {ratio: 0, floor: 0.5, onset: onLearner},
	param:      {reads: []kind{grad, loss, lr, param}, needs: []kind{grad, loss}, ratio: 30, floor: 10, onset: onLearner},
	paramStd:   {reads: []kind{grad, loss, lr}, needs: []kind{grad, loss, mean}, ratio: 30, floor: 20, top: 1e3, onset: onStd},
	monitor:    {ratio: 1e9, floor: 1e30, onset: onLearner},
	other:      {ratio: 1e6, floor: 1e10, onset: onMultiple},
}

// isBody reports whether the kind is part of the simulator's state: these go
// bad together within a substep, so their order inside it says nothing.
func (k kind) isBody() bool { return k >= qacc && k <= state }

// rank orders kinds that a loop gave the same place: a normalized observation is
// made of the raw one, a total of its terms.
func (k kind) rank() int {
	switch k {
	case obsNorm, reward:
		return 1
	}
	return 0
}

// isWeight reports whether a field is something that an optimizer moves: a logarithm
// of a std may also be what the policy made of its observations.
func isWeight(k kind, s dump.Stage) bool {
	return s == dump.StageParam && (k == param || k == paramStd || k == logStd)
}

// isLearner reports whether a field is made from a whole rollout.
func (k kind) isLearner() bool {
	return k == loss || k == grad || k == lr || k == param || k == paramStd
}

// byStage holds the names that tell kinds of one stage apart, in the order in
// which they are tried: a name matches when it contains the word.
var byStage = map[dump.Stage][]struct {
	word string
	kind kind
}{
	dump.StageModel:      {{"", modelArray}},
	dump.StageSolver:     {{"qacc", qacc}, {"warmstart", qacc}, {"force", force}, {"dist", force}, {"", counter}},
	dump.StagePhysics:    {{"ctrl", ctrl}, {"contact", force}, {"force", force}, {"qacc", qacc}, {"qvel", qvel}, {"qpos", qpos}, {"vel", qvel}, {"pos", qpos}, {"acc", qacc}, {"act", act}, {"", force}},
	dump.StageSensor:     {{"", sensor}},
	dump.StageObs:        {{"normalized", obsNorm}, {"", obs}},
	dump.StageNormalizer: {{"normalized", obsNorm}, {"obs", obsNorm}, {"", normMean}},
	dump.StagePolicy:     {{"log_prob", logProb}, {"logp", logProb}, {"entropy", logProb}, {"mean", mean}, {"ctrl", ctrl}, {"action", action}, {"", mean}},
	dump.StageReward:     {{"reward.", term}, {"", reward}},
	dump.StageDone:       {{"", done}},
	dump.StageValue:      {{"", value}},
	dump.StageLoss:       {{"", loss}},
	dump.StageGrad:       {{"", grad}},
	dump.StageParam:      {{"", param}},
	dump.StageMonitor:    {{"", monitor}},
}

// kindOf returns the part that a field plays, from its stage and then its name. The
// scale of a loss in half precision is no parameter: it doubles and halves by itself.
func kindOf(s dump.FieldSpec) kind {
	name := strings.ToLower(s.Name)
	if name == "reward.normalized" || name == "reward.batch" {
		return reward
	}
	switch s.Stage {
	case dump.StagePolicy:
		if k, ok := namesStd(s.Name, s.Stage); ok {
			return k
		}
	case dump.StageLoss:
		if k, ok := namesRate(s.Name); ok && !strings.Contains(name, "loss") {
			return k
		}
	case dump.StageNormalizer:
		if k, ok := namesStatistic(s.Name); ok {
			return k
		}
	case dump.StageParam:
		return kindOfParam(s)
	}
	for _, r := range byStage[s.Stage] {
		if strings.Contains(name, r.word) {
			return r.kind
		}
	}
	return other
}

// kindOfParam is kindOf for the learner's parameters and the numbers beside them.
func kindOfParam(s dump.FieldSpec) kind {
	if about(s.Name, scaleWords...) {
		return monitor
	}
	if k, ok := namesRate(s.Name); ok {
		return k
	}
	if k, ok := namesStd(s.Name, s.Stage); ok {
		return k
	}
	if namesNumber(s.Name) {
		return monitor
	}
	return param
}
