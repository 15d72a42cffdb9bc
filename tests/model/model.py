"""The reference model: what the mission and the design say, in one place, deterministic and without a database.

Each operation takes the state and the time in whole seconds, changes the state and answers as §4-6 and 8-10 fix it.
"""

from __future__ import annotations

from tests.model import dispatching, effects, publishing
from tests.model.asking import (
    Cancelled,
    Retried,
    Transition,
    Wish,
    cancel,
    cancel_installation,
    retry,
    transition,
)
from tests.model.leasing import (
    Beat,
    Claimed,
    claim,
    claimable,
    expire_leases,
    fair_choices,
    heartbeat,
    relinquish,
    revoke,
)
from tests.model.observing import Observed, Seen, apply_level_rule, approve, observe
from tests.model.pushing import Pushed, observe_push
from tests.model.reporting import Report, record_result
from tests.model.sweeping import levels_due, sweep_deadlines, sweep_levels

__all__ = [
    "Beat",
    "Cancelled",
    "Claimed",
    "Observed",
    "Pushed",
    "Report",
    "Retried",
    "Seen",
    "Transition",
    "Wish",
    "apply_level_rule",
    "approve",
    "cancel",
    "cancel_installation",
    "claim",
    "claimable",
    "dispatching",
    "effects",
    "expire_leases",
    "fair_choices",
    "heartbeat",
    "levels_due",
    "observe",
    "observe_push",
    "publishing",
    "record_result",
    "relinquish",
    "retry",
    "revoke",
    "sweep_deadlines",
    "sweep_levels",
    "transition",
]
