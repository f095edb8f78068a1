"""Opens a dump that nanguard wrote with numpy and checks every value in it.

Usage: check_numpy.py DUMP.npz

The dump is the sample of write_interop_test.go. The first part does what the
ecosystem's own viewer (mjlab's viz-nan) does with a dump; the second reads
everything else that the format promises. Works with numpy 1.17 to 2.x.
"""

import json
import sys

import numpy as np


def check_as_viz_nan_reads(path):
    dump = np.load(path, allow_pickle=True)
    metadata = dump["_metadata"].item()
    assert type(metadata) is dict, type(metadata)
    assert metadata["num_envs_dumped"] == 3
    assert metadata["dumped_env_ids"] == [6, 2, 0]
    assert metadata["nan_env_ids"] == [2, 6]
    assert metadata["state_size"] == 5
    assert metadata["state_spec"] == 30
    assert metadata["model_file"] == "model_20260102_030405.mjb"
    keys = sorted(
        (k for k in dump.keys() if k.startswith("states_step_")),
        key=lambda k: int(k.rsplit("_", 1)[1]),
    )
    assert keys == ["states_step_999999", "states_step_1000000"], keys
    states = np.stack([dump[k] for k in keys])
    assert states.dtype == np.dtype("<f8")
    assert states.shape == (2, metadata["num_envs_dumped"], metadata["state_size"])
    assert np.array_equal(states.ravel(), np.arange(30) * 0.5)
    assert states[0].flags["C_CONTIGUOUS"]


def check_metadata(metadata):
    assert list(metadata) == [
        "num_envs_total", "num_envs_dumped", "nan_env_ids", "dumped_env_ids", "state_spec", "state_size",
        "buffer_size", "detection_step", "timestamp", "model_file", "note",
    ], list(metadata)
    for key, value in metadata.items():
        assert type(value) in (int, str, list), (key, type(value))
        if type(value) is list:
            assert all(type(v) is int for v in value), key
    assert metadata["num_envs_total"] == 8
    assert metadata["buffer_size"] == 2
    assert metadata["detection_step"] == 10**12  # more than 32 bits hold
    assert metadata["timestamp"] == "20260102_030405"
    assert metadata["note"] == "\u00b5 note"


def check_manifest(dump):
    # no pickle is needed for the manifest
    raw = dump["_nanguard"]
    assert raw.dtype == np.uint8 and raw.ndim == 1
    doc = json.loads(raw.tobytes().decode("utf-8"), parse_constant=lambda s: sys.exit("bare " + s))
    assert doc["format"] == "nanguard-dump" and doc["version"] == 1
    assert doc["env_ids"] == [6, 2, 0]
    assert doc["env_roles"] == ["culprit", "culprit", "control"]
    assert [f["name"] for f in doc["fields"]] == ["qpos", "policy.std", "done", "lr"]
    assert doc["trip"] == {
        "tick": 3, "clock": "substep", "count": 2, "field": "qpos", "env": 2, "col": 2, "class": "nan",
    }
    assert doc["events"][1]["detail"] == {"friction": "-Infinity", "mass": [1, "NaN"]}
    assert doc["facts"]["reward.scale"] == "Infinity"
    assert doc["facts"]["sim.timestep"] == 0.005


def check_fields(dump):
    qpos = dump["field.qpos"]
    assert qpos.dtype == np.dtype("<f4") and qpos.shape == (3, 3, 3)
    want = (np.arange(27) / 4).astype("<f4")
    want.view("<u4")[14] = 0x7FC00001
    assert np.array_equal(qpos.ravel().view("<u4"), want.view("<u4"))  # NaN payloads too
    assert dump["field.qpos.tick"].dtype == np.dtype("<i8")
    assert dump["field.qpos.tick"].tolist() == [1, 3, 5]
    assert dump["field.qpos.count"].tolist() == [1, 2, 3]
    assert dump["trace.qpos"].tolist() == [[0, 0, 0, 2, 0, -2, 1, 0.5], [1, 0, 0, 3, 6, -3, 2, 0.25]]
    std = dump["field.policy.std"]  # bfloat16 as raw bits, one row for the run
    assert std.dtype == np.dtype("<u2") and std.shape == (2, 2)
    assert (std.astype("<u4") << 16).view("<f4").ravel().tolist() == [1, 1.0078125, 1.015625, 1.0234375]
    done = dump["field.done"]
    assert done.dtype == np.bool_ and done.shape == (2, 3, 1)
    assert done.ravel().tolist() == [False, True] * 3
    assert "field.lr" not in dump.files and dump.files[-1] == "_metadata"


def main(path):
    check_as_viz_nan_reads(path)
    check_metadata(np.load(path, allow_pickle=True)["_metadata"].item())
    plain = np.load(path)  # pickle not allowed: all but _metadata must load
    check_manifest(plain)
    check_fields(plain)
    for name in plain.files:
        if name != "_metadata":
            assert plain[name].dtype != object, name
    print("ok: numpy", np.__version__)


if __name__ == "__main__":
    main(sys.argv[1])
