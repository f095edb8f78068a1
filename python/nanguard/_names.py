"""What the names of the dump format say beyond their place in the loop."""

from __future__ import annotations

#: What users call a logged number, and its name in the dump format.
LOG_NAMES = {
    "entropy": "policy.entropy",
    "loss": "loss.total",
    "policy_loss": "loss.policy",
    "surrogate_loss": "loss.policy",
    "actor_loss": "loss.policy",
    "value_loss": "loss.value",
    "critic_loss": "loss.value",
    "entropy_loss": "loss.entropy",
    "learning_rate": "lr",
    "approx_kl": "kl",
}

#: Names that have one row for the whole run by definition, and the beginnings of such names.
_SHARED = ("lr", "kl", "alpha", "grad_norm")
_SHARED_FAMILIES = ("normalizer.", "param.", "loss.", "grad.")

#: Names that some runs have once per env and others once.
_EITHER = ("policy.std", "policy.log_std")
_EITHER_FAMILIES = ("model.",)


def is_shared(name: str) -> bool:
    """Reports whether a field of this name has one row for the whole run unless somebody says otherwise."""
    return name in _SHARED or name.startswith(_SHARED_FAMILIES)


def may_be_shared(name: str) -> bool:
    """Reports whether only its shape says of a field whether it has a row per env."""
    return name in _EITHER or name.startswith(_EITHER_FAMILIES)
