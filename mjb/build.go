package mjb

// model reads everything that a Model holds.
func (f *file) model() *Model {
	m := &Model{
		NQ: f.size("nq", maxColumns), NV: f.size("nv", maxColumns),
		NU: f.size("nu", maxColumns), NA: f.size("na", maxColumns),
		NBody: f.size("nbody", maxObjects), NJnt: f.size("njnt", maxObjects),
		NGeom: f.size("ngeom", maxObjects), NMocap: f.size("nmocap", maxObjects),
		NHistory: f.size("nhistory", maxColumns), NPlastic: f.size("nplastic", maxColumns),
		NEq: f.size("neq", maxColumns), NUserData: f.size("nuserdata", maxColumns),
		NPluginState: f.size("npluginstate", maxColumns),
	}
	f.loadNames()
	if f.failed() {
		return nil
	}
	f.options(&m.Opt)
	m.Qpos0 = f.nums("qpos0", m.NQ)
	m.DofArmature = f.nums("dof_armature", m.NV)
	m.DofDamping = f.nums("dof_damping", m.NV)
	m.DofFriction = f.nums("dof_frictionloss", m.NV)
	m.DofInvW0 = f.nums("dof_invweight0", m.NV)
	f.bodies(m)
	f.joints(m)
	f.geoms(m)
	f.actuators(m)
	f.sensors(m)
	return m
}

// options reads mjOption.
func (f *file) options(o *Options) {
	b := f.bytes(f.opt, f.release.opt)
	if b == nil {
		return
	}
	for _, x := range optionFields {
		if !holds(f.release.version, x.from, x.to) {
			continue
		}
		i := int(x.offset)
		switch x.name {
		case "timestep":
			o.Timestep = float64At(b, i)
		case "impratio":
			o.ImpRatio = float64At(b, i)
		case "gravity":
			o.Gravity = [3]float64{float64At(b, i), float64At(b, i+8), float64At(b, i+16)}
		case "integrator":
			o.Integrator = intAt(b, i)
		case "cone":
			o.Cone = intAt(b, i)
		case "solver":
			o.Solver = intAt(b, i)
		case "iterations":
			o.Iterations = intAt(b, i)
		case "ls_iterations":
			o.LSIterations = intAt(b, i)
		case "disableflags":
			o.DisableFlags = intAt(b, i)
		case "enableflags":
			o.EnableFlags = intAt(b, i)
		}
	}
}

// bodies reads the tree: a parent always comes before its children.
func (f *file) bodies(m *Model) {
	n := m.NBody
	parent, mocap := f.ints("body_parentid", n), f.ints("body_mocapid", n)
	mass, inertia := f.nums("body_mass", n), f.nums("body_inertia", 3*n)
	pos, quat := f.nums("body_pos", 3*n), f.nums("body_quat", 4*n)
	ipos, iquat := f.nums("body_ipos", 3*n), f.nums("body_iquat", 4*n)
	adr := f.ints("name_bodyadr", n)
	m.Bodies = make([]Body, n)
	for i := range m.Bodies {
		if parent[i] < 0 || parent[i] >= max(i, 1) {
			f.fault("body %d has the parent %d", i, parent[i])
		}
		if mocap[i] < -1 || mocap[i] >= m.NMocap {
			f.fault("body %d has the mocap id %d of %d", i, mocap[i], m.NMocap)
		}
		if f.failed() {
			return
		}
		m.Bodies[i] = Body{
			Name: f.name(adr[i]), Parent: parent[i], Mocap: mocap[i],
			Mass: mass[i], Inertia: [3]float64(inertia[3*i:]),
			Pos: [3]float64(pos[3*i:]), Quat: [4]float64(quat[4*i:]),
			IPos: [3]float64(ipos[3*i:]), IQuat: [4]float64(iquat[4*i:]),
		}
	}
}

// joints reads the joints, which stand in the order of their bodies and fill
// qpos and qvel without gaps.
func (f *file) joints(m *Model) {
	n := m.NJnt
	kind, body := f.ints("jnt_type", n), f.ints("jnt_bodyid", n)
	qpos, dof := f.ints("jnt_qposadr", n), f.ints("jnt_dofadr", n)
	limited, ranges := f.bools("jnt_limited", n), f.nums("jnt_range", 2*n)
	pos, axis := f.nums("jnt_pos", 3*n), f.nums("jnt_axis", 3*n)
	stiffness := f.nums("jnt_stiffness", n)
	adr := f.ints("name_jntadr", n)
	m.Joints = make([]Joint, n)
	nq, nv, last := 0, 0, 0
	for i := range m.Joints {
		t := JointType(kind[i])
		switch {
		case t < FreeJoint || t > HingeJoint:
			f.fault("joint %d has the type %d", i, t)
		case body[i] < last || body[i] >= m.NBody:
			f.fault("joint %d has the body %d of %d", i, body[i], m.NBody)
		case qpos[i] != nq || dof[i] != nv:
			f.fault("joint %d begins at qpos %d and dof %d, want %d and %d", i, qpos[i], dof[i], nq, nv)
		}
		if f.failed() {
			return
		}
		m.Joints[i] = Joint{
			Name: f.name(adr[i]), Type: t, QposAdr: nq, DofAdr: nv, Body: body[i],
			Limited: limited[i], Range: [2]float64(ranges[2*i:]),
			Pos: [3]float64(pos[3*i:]), Axis: [3]float64(axis[3*i:]), Stiffness: stiffness[i],
		}
		nq, nv, last = nq+t.NQ(), nv+t.NV(), body[i]
	}
	if nq != m.NQ || nv != m.NV {
		f.fault("the joints have %d positions and %d dofs, want nq %d and nv %d", nq, nv, m.NQ, m.NV)
	}
}

// geoms reads the geoms.
func (f *file) geoms(m *Model) {
	n := m.NGeom
	kind, body, condim := f.ints("geom_type", n), f.ints("geom_bodyid", n), f.ints("geom_condim", n)
	size, pos, quat := f.nums("geom_size", 3*n), f.nums("geom_pos", 3*n), f.nums("geom_quat", 4*n)
	friction, solref, solimp := f.nums("geom_friction", 3*n), f.nums("geom_solref", 2*n), f.nums("geom_solimp", 5*n)
	contype, conaff, margin := f.ints("geom_contype", n), f.ints("geom_conaffinity", n), f.nums("geom_margin", n)
	adr := f.ints("name_geomadr", n)
	m.Geoms = make([]Geom, n)
	for i := range m.Geoms {
		if body[i] < 0 || body[i] >= m.NBody {
			f.fault("geom %d has the body %d of %d", i, body[i], m.NBody)
		}
		if f.failed() {
			return
		}
		m.Geoms[i] = Geom{
			Name: f.name(adr[i]), Type: kind[i], Body: body[i], Condim: condim[i],
			Size: [3]float64(size[3*i:]), Pos: [3]float64(pos[3*i:]), Quat: [4]float64(quat[4*i:]),
			Friction: [3]float64(friction[3*i:]), SolRef: [2]float64(solref[2*i:]), SolImp: [5]float64(solimp[5*i:]),
			ConType: contype[i], ConAff: conaff[i], Margin: margin[i],
		}
	}
}
