package mjb

// mjtTrn's values for a transmission to a joint.
const (
	trnJoint         = 0
	trnJointInParent = 1
	trnSO3           = 6 // to a ball joint, or to a site
)

// parmCount is mjNGAIN and mjNBIAS, ten in every version.
const parmCount = 10

// actuators reads the actuators. Until MuJoCo 3.11 each had one control, and
// nu counted them.
func (f *file) actuators(m *Model) {
	n := m.NU
	if _, ok := f.sizes["nactuator"]; ok {
		n = f.size("nactuator", maxObjects)
	}
	m.Actuators = make([]Actuator, n)
	f.gains(m)
	f.gears(m)
	f.columns(m)
	f.targets(m)
	f.limits(m)
}

// explicitFilter is mjDYN_FILTER.
const explicitFilter = 2

// gains reads names and parameters.
func (f *file) gains(m *Model) {
	n := len(m.Actuators)
	adr := f.ints("name_actuatoradr", n)
	gain, bias := f.nums("actuator_gainprm", parmCount*n), f.nums("actuator_biasprm", parmCount*n)
	dyn, dynParm := f.ints("actuator_dyntype", n), f.nums("actuator_dynprm", parmCount*n)
	for i := range m.Actuators {
		if f.failed() {
			return
		}
		a := &m.Actuators[i]
		a.Name = f.name(adr[i])
		a.GainPrm0, a.BiasPrm = gain[parmCount*i], [3]float64(bias[parmCount*i:])
		if dyn[i] == explicitFilter {
			a.FilterTime = dynParm[parmCount*i]
		}
	}
}

// gears reads the first number of each actuator's gear. From MuJoCo 3.11 on
// an actuator may have several outputs with a gear each: the first one's.
func (f *file) gears(m *Model) {
	n := len(m.Actuators)
	adr, outputs := make([]int, n), n
	for i := range adr {
		adr[i] = i
	}
	if _, ok := f.sizes["nout"]; ok {
		outputs, adr = f.size("nout", maxObjects), f.ints("actuator_outadr", n)
	}
	gear := f.nums("actuator_gear", 6*outputs)
	for i := range m.Actuators {
		if adr[i] < 0 || adr[i] >= outputs {
			f.fault("actuator %d has its outputs at %d of %d", i, adr[i], outputs)
		}
		if f.failed() {
			return
		}
		m.Actuators[i].Gear = gear[6*adr[i]]
	}
}

// columns reads which controls and activations belong to which actuator.
func (f *file) columns(m *Model) {
	n := len(m.Actuators)
	act, nact := f.ints("actuator_actadr", n), f.ints("actuator_actnum", n)
	ctrl, nctrl := f.controls(n)
	for i := range m.Actuators {
		if !inside(ctrl[i], nctrl[i], m.NU) {
			f.fault("actuator %d has %d controls from %d of %d", i, nctrl[i], ctrl[i], m.NU)
		}
		if !inside(act[i], nact[i], m.NA) {
			f.fault("actuator %d has %d activations from %d of %d", i, nact[i], act[i], m.NA)
		}
		a := &m.Actuators[i]
		a.CtrlAdr, a.NCtrl, a.ActAdr, a.NAct = ctrl[i], nctrl[i], act[i], nact[i]
	}
}

// controls returns where the controls of n actuators begin and how many each has.
func (f *file) controls(n int) (adr, num []int) {
	if _, ok := f.sizes["nactuator"]; ok {
		return f.ints("actuator_ctrladr", n), f.ints("actuator_ctrlnum", n)
	}
	adr, num = make([]int, n), make([]int, n)
	for i := range adr {
		adr[i], num[i] = i, 1
	}
	return adr, num
}

// inside reports whether n columns from adr lie among total; none lie anywhere.
func inside(adr, n, total int) bool {
	return n == 0 || n > 0 && adr >= 0 && adr <= total-n
}

// targets reads what the actuators drive.
func (f *file) targets(m *Model) {
	n := len(m.Actuators)
	trn, id := f.ints("actuator_trntype", n), f.ints("actuator_trnid", 2*n)
	for i := range m.Actuators {
		a := &m.Actuators[i]
		a.Joint = -1
		toBall := trn[i] == trnSO3 && id[2*i+1] < 0 // a site comes with a second one
		if trn[i] != trnJoint && trn[i] != trnJointInParent && !toBall {
			continue
		}
		if a.Joint = id[2*i]; a.Joint < 0 || a.Joint >= m.NJnt {
			f.fault("actuator %d drives the joint %d of %d", i, a.Joint, m.NJnt)
		}
	}
}

// limits reads the ranges of controls and forces.
func (f *file) limits(m *Model) {
	n := len(m.Actuators)
	forced, force := f.bools("actuator_forcelimited", n), f.nums("actuator_forcerange", 2*n)
	limited, ctrl := f.bools("actuator_ctrllimited", m.NU), f.nums("actuator_ctrlrange", 2*m.NU)
	if f.failed() {
		return
	}
	for i := range m.Actuators {
		a := &m.Actuators[i]
		a.ForceLimited, a.ForceRange = forced[i], [2]float64(force[2*i:])
		if a.NCtrl > 0 {
			a.CtrlLimited, a.CtrlRange = limited[a.CtrlAdr], [2]float64(ctrl[2*a.CtrlAdr:])
		}
	}
}
