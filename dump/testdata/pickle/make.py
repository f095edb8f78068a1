"""Writes the pickles of this folder: one dict in every protocol, and what numpy makes of its own types."""

import collections
import pickle

import numpy as np

plain = {
    "i": 1, "neg": -2, "big": 2**62, "huge": 2**70, "f": 1.5, "b": True, "n": None, "s": "\u00b5\n'\\",
    "l": [1, [2, "x"]], "t": (1, 2), "e": [], "inf": float("-inf"), 7: "seven",
}
for protocol in range(6):
    with open(f"plain_{protocol}.pkl", "wb") as f:
        pickle.dump(plain, f, protocol=protocol)

numbers = {
    "ids": np.array([3, 5]), "u1": np.uint8(200), "f4": np.float32(0.5), "f2": np.float16(2), "b": np.bool_(True),
    "str": np.str_("h\u00e9llo"), "two": np.arange(6, dtype="<i4").reshape(2, 3), "be": np.array([1, -2], dtype=">i2"),
    "strs": np.array(["ab", "c"]), "o": np.array([1, "x", None], dtype=object), "zero": np.array(7),
    "date": np.datetime64("2020-01-01"), "dates": np.array(["2020-01-01"], dtype="M8[D]"), "big": np.uint64(2**64 - 1),
    "empty": np.zeros((0, 3)), "od": collections.OrderedDict([("z", 1), ("a", 2)]),
    "f": np.asfortranarray(np.arange(4.0).reshape(2, 2)), "raw": b"bytes",
}
for protocol in (3, 4):
    with open(f"numpy_{protocol}.pkl", "wb") as f:
        pickle.dump(np.array(numbers, dtype=object), f, protocol=protocol)
with open("set_4.pkl", "wb") as f:
    pickle.dump({"s": {1}, "f": frozenset([2])}, f, protocol=4)
