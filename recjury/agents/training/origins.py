"""The models that training starts from: published backbones, as `backbones` names them."""

import re
from collections.abc import Sequence

from recjury.agents.neural.backbones import PUBLISHED, TAKES, Origin, find_origin
from recjury.errors import ConfigError

_WITH_KIND = re.compile(r"([\w-]+)=(.*)", re.DOTALL)


def find_origins(system: str, named: Sequence[str]) -> dict[str, Origin]:
    """The backbones that a system will be trained from, by kind; empty if none is named.

    Each is named as `KIND=NAME`, where NAME is a folder or a hub name. A system with a single kind
    of backbone also accepts NAME alone. Raises ConfigError for a kind that the system does not use,
    for a kind that is named twice or missing, and for a backbone that is not found and cannot be
    fetched.
    """
    found: dict[str, str] = {}
    for each in named:
        kind, name = _parted(system, each)
        if kind in found:
            raise ConfigError(f"backbones name {kind} twice: {found[kind]} and {name}")
        found[kind] = name
    missing = [kind for kind in TAKES[system] if kind not in found]
    if found and missing:
        raise ConfigError(
            f"backbones: {system} builds on {' and '.join(TAKES[system])}: add "
            + ", ".join(f"{kind}=NAME (published: {PUBLISHED[kind]})" for kind in missing)
        )
    return {kind: find_origin(found[kind], kind) for kind in TAKES[system] if kind in found}


def _parted(system: str, named: str) -> tuple[str, str]:
    """Kind and name of one backbone."""
    kinds = TAKES[system]
    match = _WITH_KIND.fullmatch(named)
    kind, name = match.groups() if match else (kinds[0], named)
    if (match is None and len(kinds) > 1) or kind not in kinds or not name:
        wanted = " and ".join(f"{each}=NAME" for each in kinds)
        raise ConfigError(f"backbones: {system} takes {wanted}, got {named!r}")
    return kind, name
