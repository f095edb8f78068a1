package rootcause

import (
	"slices"
	"strings"
	"unicode"

	"github.com/nanguard/nanguard/dump"
)

// tokens splits a field's name into its words: "policy.logStd_raw" is policy, log,
// std and raw. A word inside another says nothing: there is no rate in "wheelroll",
// no std in "understand" and no NaN in "banana".
func tokens(name string) []string {
	var out []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, strings.ToLower(string(word)))
		}
		word = word[:0]
	}
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			flush()
			continue
		}
		if unicode.IsUpper(r) && len(word) > 0 && !unicode.IsUpper(word[len(word)-1]) {
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}

// hasToken reports whether a name has one of some words.
func hasToken(name string, words ...string) bool {
	return slices.ContainsFunc(tokens(name), func(t string) bool { return slices.Contains(words, t) })
}

// Words that tell what a std, a rate or a number among the parameters is.
var (
	stdTokens = []string{"std", "stds", "stdev", "stddev", "sigma", "sigmas"}
	logTokens = []string{"log", "ln"}
	// rawTokens say that a std is made of it by an exponential or a softplus.
	rawTokens = []string{"raw", "pre", "unconstrained", "logit", "logits", "rho", "softplus"}
	// layerTokens, behind it, are of weights of a network that makes a std: any sign is fine.
	layerTokens = []string{"weight", "bias", "kernel", "layer", "net", "head", "mlp", "fc", "linear", "norm"}
	// ownedTokens say that a std is of something else than the actions, and so do
	// criticTokens where no word is of the actor.
	ownedTokens  = []string{"obs", "observation", "observations", "return", "returns", "reward", "rewards", "advantage", "ensemble", "disagreement", "popart", "normalizer", "normaliser", "rms", "running", "kl", "dropout"}
	criticTokens = []string{"value", "values", "critic", "q", "adv"}
	actorTokens  = []string{"actor", "action", "actions", "noise", "policy", "pi", "mu"}
	// countTokens are of numbers beside the weights that no gradient moves.
	countTokens = []string{"count", "counter", "counts", "steps", "step", "tracked", "epoch", "epochs", "iteration", "iterations", "running", "rms", "popart", "normalizer", "normaliser", "vecnormalize", "limit", "lagrange", "lagrangian", "multiplier"}
	rateTokens  = []string{"lr", "lrs"}
	// notRate are of numbers about a learning rate.
	notRate = []string{"delta", "change", "diff", "exponent", "power", "log", "log10", "ln", "decay", "scale", "factor", "ratio", "mult"}
)

// namesStd says what a field that is named like a std holds; ok is false for a name
// without one.
func namesStd(name string, stage dump.Stage) (k kind, ok bool) {
	words := tokens(name)
	if len(words) > 1 && (words[0] == "policy" || words[0] == "param") {
		words = words[1:]
	}
	has := func(list ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	at := slices.IndexFunc(words, isStdToken)
	if at < 0 && stage == dump.StagePolicy && has(logTokens...) {
		at = slices.Index(words, "scale") // of a density whose scale is learned as a logarithm
	}
	if at < 0 || has("entropy") {
		return other, false
	}
	raw, beside := other, other
	if stage == dump.StageParam {
		raw, beside = param, monitor
	}
	switch {
	case has(ownedTokens...) || has(criticTokens...) && !has(actorTokens...):
		return beside, true
	case slices.ContainsFunc(words[at+1:], func(w string) bool { return slices.Contains(layerTokens, w) }):
		return raw, true
	case has(logTokens...) || strings.HasPrefix(words[at], "log") || strings.HasPrefix(words[at], "ln"):
		return logStd, true
	case has(rawTokens...):
		return raw, true
	case stage != dump.StageParam:
		return std, true
	case strings.HasPrefix(words[at], "sigma"):
		return param, true // in rl_games it is a logarithm
	}
	return paramStd, true
}

// isStdToken reports whether a word is one for a std, or for its logarithm.
func isStdToken(w string) bool {
	if strings.HasSuffix(w, "std") {
		return true
	}
	for _, cut := range []string{"", "log", "ln"} {
		if rest, ok := strings.CutPrefix(w, cut); ok && slices.Contains(stdTokens, rest) {
			return true
		}
	}
	return false
}

// namesRate says what a field that is named like a learning rate holds; ok is false
// for a name without one.
func namesRate(name string) (k kind, ok bool) {
	words := tokens(name)
	i := slices.Index(words, "learning")
	if !hasToken(name, rateTokens...) && (i < 0 || i+1 >= len(words) || words[i+1] != "rate") {
		return other, false
	}
	if hasToken(name, notRate...) {
		return monitor, true
	}
	return lr, true
}

// namesNumber reports whether a parameter's name says that it is a count or a
// statistic, which nothing learns.
func namesNumber(name string) bool {
	return hasToken(name, countTokens...) || about(name, "running_mean", "running_var")
}

// namesNaN reports whether a name speaks of NaN.
func namesNaN(name string) bool {
	return slices.ContainsFunc(tokens(strings.ToLower(name)), func(t string) bool {
		return slices.Contains([]string{"nan", "nans", "isnan", "hasnan", "nanguard", "nonfinite"}, t)
	})
}

// stdUntold reports whether nothing but its own values says what a parameter of the
// std is: the run declares nothing, and no std is recorded beside it.
func (c *Case) stdUntold() bool {
	return c.stdParam() == "" && !slices.ContainsFunc(c.man.Fields, func(s dump.FieldSpec) bool { return kindOf(s) == std })
}

// below reports whether all values of a field are below zero, and finite, in all
// frames: no sampler took one of them for a std, so it is the logarithm of one,
// whatever it is called.
func (f *field) below() bool {
	for i := range f.cells {
		if c := &f.cells[i]; c.bad > 0 || !(c.min < 0) {
			return false
		}
		for col := range f.to - f.from {
			if !(f.at(i/f.rows, i%f.rows, col) < 0) {
				return false
			}
		}
	}
	return true
}

// lastToken returns the last word of a name.
func lastToken(name string) string {
	words := tokens(name)
	if len(words) == 0 {
		return ""
	}
	return words[len(words)-1]
}

// statisticKinds are the last words of a normalizer's fields: rl_games keeps the mean and
// the variance of its running_mean_std.
var statisticKinds = map[string]kind{
	"mean": normMean, "var": normVar, "variance": normVar, "std": normVar, "stddev": normVar, "count": counter, "normalized": obsNorm,
}

// namesStatistic says by the last of such words what a field of a normalizer holds; ok
// is false for a name without one.
func namesStatistic(name string) (k kind, ok bool) {
	for _, w := range slices.Backward(tokens(name)) {
		if k, ok := statisticKinds[w]; ok {
			return k, true
		}
	}
	return other, false
}

// namesRoot reports whether a field of a normalizer holds standard deviations and no
// variances.
func namesRoot(name string) bool {
	for _, w := range slices.Backward(tokens(name)) {
		if statisticKinds[w] == normVar {
			return isStdToken(w)
		}
	}
	return false
}
