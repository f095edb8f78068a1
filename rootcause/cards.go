package rootcause

// cards holds what the catalogue says in prose, by cause. The incidents are
// facts of public reports in our own words.
var cards = map[string]Card{
	ContactDivergence: {
		What: "The contact or constraint solver does not find a solution that keeps bodies apart: contacts too stiff for the step, " +
			"too few iterations, a deep penetration. Speeds jump within one to three substeps of a contact, in one env or a few.",
		Symptoms: []string{"qacc or qvel non-finite in one of many envs", "the solver at its limit of iterations just before", "\"normal expects all elements of std >= 0.0\" a few steps later, which is only the echo"},
		Ranked:   "always",
		Cases: []Incident{
			{"a float32 Cholesky factorisation of the contact problem failed in one of 64 worlds", "https://github.com/google-deepmind/mujoco_warp/issues/1415"},
			{"a friction setting that one backend bears and another does not", "https://github.com/google-deepmind/mujoco_warp/issues/1517"},
			{"NaN in Warp where MJX had none, without a small reproduction", "https://github.com/google-deepmind/mujoco_playground/issues/248"},
		},
	},
	RewardOverflow: {
		What: "A reward term divides by something that reaches zero, or takes a power, exponential or logarithm out of range, " +
			"while the physics under it is finite and quiet. 1/(d+1e-8) makes no NaN, only a sample that crushes all others.",
		Symptoms: []string{"one term non-finite or far out of proportion in one env", "the total goes bad after it; the value loss a rollout later"},
		Ranked:   "always",
		Cases: []Incident{
			{"a height scanner's Inf went through a reward into the learner", "https://github.com/zitongbai/legged_lab/issues/15"},
			{"NaN in the reward of one env, for several steps", "https://github.com/mujocolab/mjlab/issues/399"},
		},
	},
	NormalizerCold: {
		What: "The running variance of an observation is zero, tiny or (by cancellation) below zero, so dividing by its root makes huge numbers " +
			"or NaN out of observations that are fine. With an eps of 0.01 in the denominator (RSL-RL) the gain is at most a hundred.",
		Symptoms: []string{"raw observations fine, normalized ones not, in all envs at once", "in the first learner iterations", "in columns that hardly vary"},
		Ranked:   "always",
		Cases: []Incident{
			{"Go1 on rough terrain went NaN after thousands of iterations for want of normalisation", "https://github.com/mujocolab/mjlab/pull/1104"},
		},
	},
	PolicyStd: {
		What: "The std of the policy crosses zero (a raw parameter drifts there by small steps), sits at its clamp, or a log std blows up. " +
			"torch says \"normal expects all elements of std >= 0.0\" for a NaN as well, and mostly means that.",
		Symptoms: []string{"the exception comes from the sampler", "the smallest std falls steadily for many minibatches", "rewards and observations finite to the end"},
		Ranked:   "always",
		Cases: []Incident{
			{"one dimension of a scalar std drifted below zero, everything else finite", "https://github.com/leggedrobotics/rsl_rl/issues/201"},
			{"the message about std, raised for NaN from upstream", "https://github.com/leggedrobotics/rsl_rl/issues/124"},
			{"the same message in Isaac Lab", "https://github.com/isaac-sim/IsaacLab/issues/673"},
		},
	},
	StaleGraph: {
		What: "A captured CUDA graph goes on reading arrays that were moved or replaced after the capture. First of all that is silent: new values " +
			"have no effect. NaN comes when the old memory is used for something else.",
		Symptoms: []string{"randomisation or commands without effect", "onset at random steps, in random envs, not reproducible", "\"illegal memory access\""},
		Ranked:   "always",
		Cases: []Incident{
			{"a gain of zero times garbage in the dofs of free joints, at random steps", "https://github.com/newton-physics/newton/commit/d60ceb840"},
			{"graphs captured again when model fields are expanded", "https://github.com/mujocolab/mjlab/pull/415"},
		},
	},
	ContactCapacity: {
		What: "There are more contacts or constraints than their buffers hold, and what does not fit is dropped: hands lose what they grasp, " +
			"bodies sink into one another, and the solver then meets penetrations that nothing resolves.",
		Symptoms: []string{"nefc at njmax or ncon at nconmax before any speed rises", "a printed line about overflow that nobody reads", "success falls in all envs"},
		Ranked:   "a buffer was full before anything ran away, or has been for a quarter of the run",
		Cases: []Incident{
			{"rows past the capacity were dropped under a stack of boxes, then NaN", "https://github.com/newton-physics/newton/issues/3702"},
			{"overflow of nconmax and njmax asked for as an error that can be caught", "https://github.com/mujocolab/mjlab/issues/193"},
		},
	},
	BadModel: {
		What: "The model cannot work, or not at this step: masses, inertias or damping at or below zero, gains too strong for what they move, " +
			"limits that are missing, values that randomisation took too far.",
		Symptoms: []string{"the same env again and again, or all of them", "speeds above a hundred rad/s long before the end", "growth without a contact"},
		Ranked:   "the env is one of few whose model was changed; it ran away without contact, again and again, or with all others; the model file has a fault, or a solref changed its sign",
		Cases: []Incident{
			{"an arm without a velocity limit under saturated torque; the limit array held FLT_MAX", "https://github.com/isaac-sim/IsaacLab/issues/7624"},
		},
	},
	BadSensor: {
		What:     "A sensor or a ray gives no number: a ray that misses everything is infinite, a contact sensor without contact divides by nothing.",
		Symptoms: []string{"an observation column of one env, at the border of the terrain", "qpos and qvel finite to the end"},
		Ranked:   "a sensor or an observation was first, some columns died, or single readings are far out",
		Cases: []Incident{
			{"one missed ray made a base-height term infinite", "https://github.com/isaac-sim/IsaacLab/issues/7343"},
			{"a contact-force sensor NaN in one env of thousands, outside what the guard watched", "https://github.com/mujocolab/mjlab/issues/520"},
			{"sensors and contact forces asked to be watched", "https://github.com/mujocolab/mjlab/issues/412"},
		},
	},
	BadReset: {
		What:     "A reset leaves something behind: NaN in the warm start or a history, speeds of the last episode, a pose inside the floor.",
		Symptoms: []string{"bad in the first step of an episode", "the same env in every episode from then on"},
		Ranked:   "bad right after a reset, in a state that no step of the physics made, or far out after each reset",
		Cases: []Incident{
			{"NaN stayed in the warm start; the reset wrote positions and speeds only", "https://github.com/newton-physics/newton/issues/1266"},
			{"worlds dead for good after their first NaN", "https://github.com/newton-physics/newton/issues/2552"},
			{"solver buffers cleared at reset", "https://github.com/isaac-sim/IsaacLab/pull/5730"},
		},
	},
	ActionExplosion: {
		What:     "The policy's actions leave every sensible range and drive the physics out: a scale too large, no clip, a mean or std that ran away.",
		Symptoms: []string{"the largest action rises before any speed does", "targets far beyond the joints' ranges"},
		Ranked:   "the action left its range first; or nobody recorded it, and the model that was looked at has no fault",
	},
	LearnerExplosion: {
		What: "Ratio, value target, loss or gradient overflows while the envs are fine: a learning rate too high, one return of 1e20, " +
			"a log-ratio above 88, which float32 cannot exponentiate.",
		Symptoms: []string{"value loss infinite before any NaN in an observation", "every logged mean ordinary: means hide one env", "weights ten times larger within a few updates"},
		Ranked:   "weights, loss or gradient were first, or the learning rate is below zero",
		Cases: []Incident{
			{"one env's return of 1e20, finite, made the value loss infinite", "https://github.com/isaac-sim/IsaacLab/issues/1999"},
			{"value loss infinite before anything else", "https://github.com/unitreerobotics/unitree_rl_lab/issues/101"},
			{"and once more", "https://github.com/MuammerBay/isaac_so_arm101/issues/42"},
		},
	},
	MathDomain: {
		What:     "A formula is asked for a value at the edge of its domain: acos of one and a rounding, log or sqrt of zero or less, a softmax over nothing, the std of one sample.",
		Symptoms: []string{"one column of an observation or one term", "in rare poses, with ordinary physics"},
		Ranked:   "an observation was first",
		Cases: []Incident{
			{"an eigendecomposition of a terrain fit that held NaN", "https://github.com/mujocolab/mjlab/issues/912"},
		},
	},
	PrecisionLoss: {
		What: "A value is kept in bfloat16 or float16, and the step that should change it is smaller than half a unit in its last place: it stands still, " +
			"bit for bit. Nothing is ever NaN; the run just does not learn.",
		Symptoms: []string{"alpha exactly constant while entropy stays off its target", "returns far below those of a float32 run, without an error"},
		Ranked:   "what is learned stood still in a run of low precision while something pushed it, a count or position was rounded away, or gradients were flushed to zero",
		Cases: []Incident{
			{"FastSAC with bf16 autocast: alpha stuck at 0.001, entropy three nats off", "https://github.com/Motphys/MotrixLab/issues/71"},
		},
	},
	PaddingRows: {
		What:     "Rows of finished or padded steps hold filler (NaN, or nothing), and a product with a mask does not keep it out: 0 times NaN is NaN.",
		Symptoms: []string{"the bad rows are exactly the done rows", "gradients NaN although every env is fine"},
		Ranked:   "the bad rows are exactly those whose episode is over, or few samples of a batch went bad alone",
		Cases: []Incident{
			{"the next observation of done rows was filled with NaN", "https://github.com/pytorch/rl/commit/8895b09a1"},
		},
	},
	NormalizerLost: {
		What:     "The normalizer's statistics were not saved, not loaded, or made anew, at a resume or in evaluation: the policy sees observations on another scale.",
		Symptoms: []string{"returns collapse at a resume, without an error", "the count of observations falls", "|z| jumps when the checkpoint is loaded"},
		Ranked:   "the count fell, the statistics are as new in an old run, came with no checkpoint or do not fit, or z jumped at one",
	},
	RankDesync: {
		What:     "The ranks of a run no longer hold the same weights, or one rank's NaN reached all others through an all-reduce. The rank that raises is seldom the guilty one.",
		Symptoms: []string{"all ranks die in the same update", "this rank's envs and losses are fine"},
		Ranked:   "a rank is apart from the others, nothing keeps them together, or a gradient is bad here with finite losses",
		Cases: []Incident{
			{"an infinite ratio on one of two ranks, spread by the all-reduce", "https://github.com/unitreerobotics/unitree_rl_mjlab/issues/9"},
			{"NaN in a local gradient norm that a resume does not reproduce", "https://github.com/NVIDIA/Megatron-LM/issues/780"},
		},
	},
	SimKernel: {
		What:     "The simulator's numerics fail without any contact: a tendon, an implicit matrix, fluid forces, a subtree almost without mass, a step that its integrator does not bear.",
		Symptoms: []string{"exponential growth with no contact and a model that looks sane", "finite in float64, or with another integrator"},
		Ranked:   "it ran away with no constraint active, or in a model in which nothing can touch",
		Cases: []Incident{
			{"NaN that a scan hides, at inference only", "https://github.com/google-deepmind/mujoco/issues/1484"},
		},
	},
	AutodiffSingular: {
		What:     "The value is finite and its derivative is not: a norm or a root at zero, a where whose other branch is not safe.",
		Symptoms: []string{"gradient NaN at once, every loss finite", "with inputs that are exactly zero"},
		Ranked:   "a gradient became NaN without a way up while every loss was finite",
		Cases: []Incident{
			{"an anomaly mode for the forward pass that names the line, asked for", "https://github.com/pytorch/pytorch/issues/160016"},
		},
	},
	Backend: {
		What:     "One GPU architecture, driver, compiler or library version computes something else: a kernel that is missing or wrong there, a reduction in another precision.",
		Symptoms: []string{"gone on another machine with the same seed", "errors of the CUDA runtime or of a compiler"},
		Ranked:   "the run's last words are about CUDA, a driver or a compiler",
	},
	Masked: {
		What: "Something went bad and was replaced before it was recorded: nan_to_num, a skipped optimizer step, an engine that resets a bad state by itself. " +
			"What is left looks healthy, and the cause behind it is not in the dump.",
		Symptoms: []string{"exact zeros or 3.4028235e38 where neighbours have neither", "a clock that runs backwards", "counters of skipped steps"},
		Ranked:   "the run says so, or a value looks replaced",
		Cases: []Incident{
			{"observations set to zero on NaN, the reward left NaN", "https://github.com/mujocolab/mjlab/issues/399"},
			{"non-finite reward terms zeroed before the guard sees them", "https://github.com/mujocolab/mjlab/issues/520"},
		},
	},
	UnknownCause: {
		What:     "None of the causes explains what is recorded, or too little is. About half of the public threads about NaN never found out.",
		Symptoms: []string{"a value written from outside the physics", "a dump without the env that went bad"},
		Ranked:   "always",
	},
}
