"""Writes rich.zip: one model that uses as many of MuJoCo's features as its
version has, saved by every version, with facts computed by that version.

    python rich.py FOLDER    (in an environment with one version of mujoco)
    python rich.py --zip rich.zip FOLDER

The first writes FOLDER/<version>.mjb and .json; the second packs them.
"""
import json
import os
import sys
import zipfile

XML = """<mujoco model="rich">
<option timestep="0.003" gravity="0 0.1 -9.7" iterations="17" ls_iterations="23" impratio="3"
        cone="elliptic" integrator="RK4" solver="CG"><flag contact="disable" energy="enable"/></option>
<size nuserdata="3" nuser_jnt="2" nuser_body="3" nuser_geom="1" nuser_site="2" nuser_actuator="4"
      nuser_sensor="1" nuser_tendon="2" nuser_cam="1"/>
<asset>
 <texture name="t" type="2d" builtin="checker" width="8" height="8"/>
 <texture name="sky" type="skybox" builtin="gradient" width="4" height="4"/>
 <material name="mat" texture="t"/>
 <mesh name="tet" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
 <mesh name="cube" vertex="-1 -1 -1 1 -1 -1 1 1 -1 -1 1 -1 -1 -1 1 1 -1 1 1 1 1 -1 1 1"/>
 HFIELD
</asset>
<worldbody>
 <light name="l" pos="0 0 3"/><camera name="cam0" pos="1 1 1"/>
 <geom name="floor" type="plane" size="3 3 .1" material="mat"/>
 <body name="mc" mocap="true" pos="1 2 3" quat="1 0 1 0"><geom size=".1"/></body>
 <body name="a" pos="0 0 1" quat="1 .2 .3 .4"><freejoint name="robot/root"/>
  <geom name="ag" type="box" size=".1 .2 .3" euler="10 20 30" pos=".1 0 0" condim="6" friction=".7 .02 .003"
        solref=".03 .9" solimp=".8 .9 .002 .4 3"/>
  <site name="s0"/>
  <body name="b" pos="0 0 .5" euler="30 0 0">
   <joint name="h1" axis="1 1 0" pos=".1 .2 .3" armature=".1" damping=".3" range="-1 1" limited="true" ref="20"
          user="1 2"/>
   <joint name="sl" type="slide" axis="0 1 1" pos=".1 0 .2" ref=".3"/>
   <geom type="mesh" mesh="tet"/><site name="s1" pos=".1 0 0"/>
   <body name="c" pos=".3 0 0"><joint type="ball" name="bl" pos="0 .1 .1" PLASTIC/>
    <geom name="cg" type="mesh" mesh="cube" mass="1"/>
    <body name="d" pos="0 .4 0"><joint name="h2" axis="0 0 1"/><geom type="capsule" size=".1 .2"/></body>
   </body>
  </body>
 </body>
 <body name="e" pos="4 0 0"><joint name="h3" axis="0 1 0" PLASTIC/><joint axis="1 0 0"/><geom size=".2" mass="2"/>
  <body><geom size=".1"/></body></body>
 <flexcomp name="fx" type="grid" count="2 2 1" spacing=".1 .1 .1" dim="2" mass="1" pos="0 0 4">
  <edge equality="true"/></flexcomp>
 <flexcomp name="f3" type="grid" count="2 2 2" spacing=".1 .1 .1" dim="3" mass="1" pos="0 3 4"/>
</worldbody>
<contact><exclude body1="a" body2="c"/><pair geom1="ag" geom2="cg"/></contact>
<tendon>
 <fixed name="ft" TENDON><joint joint="h1" coef="1"/><joint joint="h3" coef="2"/></fixed>
 <spatial name="sp" limited="true" range="0 5"><site site="s0"/><site site="s1"/></spatial>
</tendon>
<equality><joint joint1="h1" joint2="h3"/><weld body1="a" body2="e"/></equality>
<actuator>
 <motor name="m1" joint="h1" gear="3" ctrlrange="-1 1" ctrllimited="true"/>
 <position name="p" joint="h3" kp="7" forcerange="-5 5" forcelimited="true"/>
 <muscle name="mus" tendon="ft" ctrllimited="true" ctrlrange="0 1" lengthrange="0 1"/>
 <intvelocity name="iv" joint="h2" kp="11" actrange="-1 1"/>
 <general name="gs" site="s1" gear="0 0 1 0 0 0" dyntype="filter" dynprm=".1"/>
 <motor joint="sl"/>
 <general name="us" joint="h1" dyntype="user" actdim="2"/>
 ACTUATORS
</actuator>
<sensor><gyro name="gy" site="s1"/><accelerometer site="s0"/><jointpos joint="h1"/></sensor>
<custom><numeric name="n" size="4" data="1 2 3 4"/><text name="tx" data="hello"/>
 <tuple name="tu"><element objtype="body" objname="a" prm="1"/></tuple></custom>
<keyframe><key name="k0" time="1"/><key name="k1"/></keyframe>
</mujoco>"""


def xml(version):
    have = lambda *v: version >= v
    text = XML.replace(
        "HFIELD",
        '<hfield name="hf" nrow="3" ncol="4" size="1 1 1 .1" elevation="0 0 0 0 1 1 1 1 0 0 0 0"/>' if have(3, 1, 2) else "",
    )
    more = ""
    if have(3, 12, 0):  # several controls per actuator
        more += '<orientation name="ori" joint="bl" kp="3" input="quat"/>'
        more += '<pid name="pd" joint="h2" kp="5" kv="1" ctrlrange="-1 1" forcerange="-3 3"/>'
    if have(3, 5, 0):  # history
        more += '<motor name="del" joint="h3" delay="0.01" nsample="6"/>'
    text = text.replace("ACTUATORS", more)
    text = text.replace("PLASTIC", 'stiffness="1" springyield=".1"' if have(4, 0, 0) else "")
    return text.replace("TENDON", 'stiffness="2" springyield=".1"' if have(4, 0, 0) else "")


def facts(mujoco, m):
    import numpy as np

    name = lambda kind, i: mujoco.mj_id2name(m, kind, i) or ""
    obj = mujoco.mjtObj
    nact = getattr(m, "nactuator", m.nu)
    one = lambda field, default: [int(x) for x in getattr(m, field, default)]
    physics = int(mujoco.mjtState.mjSTATE_PHYSICS)
    mocap = int(mujoco.mjtState.mjSTATE_MOCAP_POS | mujoco.mjtState.mjSTATE_MOCAP_QUAT)
    every = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    f = {
        "mujoco": mujoco.__version__,
        **{k: int(getattr(m, k, 0)) for k in
           "nq nv nu na nbody njnt ngeom nmocap nhistory nplastic neq nuserdata npluginstate".split()},
        "timestep": m.opt.timestep, "iterations": m.opt.iterations, "ls_iterations": m.opt.ls_iterations,
        "solver": m.opt.solver, "integrator": m.opt.integrator, "cone": m.opt.cone,
        "gravity": m.opt.gravity.tolist(), "impratio": m.opt.impratio,
        "disableflags": m.opt.disableflags, "enableflags": m.opt.enableflags,
        "states": [{"spec": s, "size": mujoco.mj_stateSize(m, s)}
                   for s in [physics, physics | mocap, every] + [1 << k for k in range(every.bit_length())]],
        "bodies": [name(obj.mjOBJ_BODY, i) for i in range(m.nbody)],
        "body_parent": m.body_parentid.tolist(), "body_mass": m.body_mass.tolist(),
        "body_inertia": m.body_inertia.tolist(), "body_mocapid": m.body_mocapid.tolist(),
        "joints": [{
            "name": name(obj.mjOBJ_JOINT, i), "type": ["free", "ball", "slide", "hinge"][m.jnt_type[i]],
            "qposadr": int(m.jnt_qposadr[i]), "dofadr": int(m.jnt_dofadr[i]), "body": int(m.jnt_bodyid[i]),
            "limited": bool(m.jnt_limited[i]), "range": m.jnt_range[i].tolist(), "axis": m.jnt_axis[i].tolist(),
        } for i in range(m.njnt)],
        "actuators": [{
            "name": name(obj.mjOBJ_ACTUATOR, i), "gainprm0": m.actuator_gainprm[i][0],
            "biasprm": m.actuator_biasprm[i][:3].tolist(),
            "trntype": int(m.actuator_trntype[i]), "trnid": m.actuator_trnid[i].tolist(),
            "forcelimited": bool(m.actuator_forcelimited[i]), "forcerange": m.actuator_forcerange[i].tolist(),
            "ctrladr": one("actuator_ctrladr", range(nact))[i], "ctrlnum": one("actuator_ctrlnum", [1] * nact)[i],
            "actadr": int(m.actuator_actadr[i]), "actnum": int(m.actuator_actnum[i]),
        } for i in range(nact)],
        "ctrl_limited": [bool(x) for x in m.actuator_ctrllimited], "ctrl_range": m.actuator_ctrlrange.tolist(),
        "dof_armature": m.dof_armature.tolist(), "dof_damping": np.ravel(m.dof_damping).tolist(),
        "dof_invweight0": m.dof_invweight0.tolist(), "qpos0": m.qpos0.tolist(),
        "geoms": [{
            "name": name(obj.mjOBJ_GEOM, i), "type": int(m.geom_type[i]), "body": int(m.geom_bodyid[i]),
            "condim": int(m.geom_condim[i]), "size": m.geom_size[i].tolist(), "friction": m.geom_friction[i].tolist(),
            "solref": m.geom_solref[i].tolist(), "solimp": m.geom_solimp[i].tolist(),
            "pos": m.geom_pos[i].tolist(), "quat": m.geom_quat[i].tolist(),
        } for i in range(m.ngeom)],
        "kinematics": [],
    }
    d = mujoco.MjData(m)
    rng = np.random.default_rng(1)
    for k in range(2):
        d.qpos[:] = m.qpos0 + k * rng.normal(size=m.nq)
        d.mocap_pos[:] += k * rng.normal(size=(m.nmocap, 3))
        d.mocap_quat[:] += k * rng.normal(size=(m.nmocap, 4))
        mujoco.mj_kinematics(m, d)
        f["kinematics"].append({key: getattr(d, key).tolist()
                                for key in ("qpos", "mocap_pos", "mocap_quat", "xpos", "xquat")})
    return f


def main():
    if sys.argv[1] == "--zip":
        with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            for n in sorted(os.listdir(sys.argv[3])):
                z.write(os.path.join(sys.argv[3], n), n)
        return
    import mujoco

    m = mujoco.MjModel.from_xml_string(xml(tuple(map(int, mujoco.__version__.split(".")))))
    base = os.path.join(sys.argv[1], mujoco.__version__)
    mujoco.mj_saveModel(m, base + ".mjb", None)
    with open(base + ".json", "w") as w:
        json.dump(facts(mujoco, m), w)


main()
