package rootcause

// toldOnly reports whether the metadata of a dump of nanguard say that envs went bad,
// and no value in the file is: it began in something that was not recorded.
func (c *Case) toldOnly() bool {
	return c.root() == nil && c.tripped == nil && !c.guardFired() && len(intList(c.meta["nan_env_ids"])) > 0
}

// fineToTheEnd reports whether fields of some kinds are recorded per env, and their
// last frames are finite and ordinary in every row of the file.
func (c *Case) fineToTheEnd(kinds ...kind) bool {
	seen := false
	for _, k := range kinds {
		for _, f := range c.fields {
			if f.kind != k || !f.PerEnv || f.len() == 0 {
				continue
			}
			if f.badRows(f.len()-1) > 0 {
				return false
			}
			seen = true
		}
	}
	return seen
}

// sparedBy returns what a cause shows itself in: where that is recorded and fine to the
// end, it was not that cause.
func sparedBy(cause string) []kind {
	switch cause {
	case ContactDivergence:
		return []kind{qvel, qpos, qacc, state, obs}
	case RewardOverflow:
		return []kind{term, reward}
	case NormalizerCold:
		return []kind{obsNorm, mean, value, action}
	case PolicyStd:
		return []kind{std, action}
	}
	return nil
}
