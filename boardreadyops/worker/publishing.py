"""One Check Run told to GitHub: looked for when an earlier request may have been executed, else created or updated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from boardreadyops.db.pool import Database
from boardreadyops.db.publications import (
    ClaimedPublication,
    acknowledge_publication,
    publication_details,
    record_check_run,
)
from boardreadyops.github.client import GitHubClient
from boardreadyops.github.fields import MAX_GITHUB_ID
from boardreadyops.github.requests import (
    CHECK_RUNS_PER_PAGE,
    Answer,
    Failure,
    create_check_run,
    list_check_runs,
    update_check_run,
)
from boardreadyops.worker.check_text import CheckText, check_text

# A commit with more check runs of one name than this is not ours to sort out.
MAX_LISTED_PAGES = 20
# A check that GitHub gave us may be unknown to its replicas for a while; after so many tries it was deleted.
MAX_MISSING_SENDS = 8

JsonObject = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Published:
    """GitHub holds the claim's sequence, and the row says so. `unchanged`: it held it before we came."""

    action: Literal["created", "updated", "unchanged"]
    check_run_id: int


@dataclass(frozen=True, slots=True)
class Fenced:
    """Another claim has the row by now: whatever we did, the last word is the other's."""


async def publish(
    database: Database, github: GitHubClient, claim: ClaimedPublication, *, public_url: str
) -> Published | Fenced | Failure:
    """Bring GitHub to the state that the claim carries and acknowledge it. Safe to repeat."""
    async with database.connection() as connection:
        details = await publication_details(connection, claim.payload)
    said = check_text(claim.release_run_id, claim.payload, details, public_url=public_url)
    known = _Known(claim.check_run_id)
    if claim.doubtful or (claim.check_run_id is None and claim.send_count > 1):
        found = await _look_for(github, claim)
        if isinstance(found, Failure):
            return found
        known = _choose(found, claim)
    found_id = known.check_run_id
    if found_id not in (None, claim.check_run_id) and not await _recorded(database, claim, found_id):
        return Fenced()
    told = await _tell(github, claim, said, known)
    if isinstance(told, Failure):
        return told
    if told.action == "created" and not await _recorded(database, claim, told.check_run_id):
        return Fenced()
    async with database.connection() as connection:
        outcome = await acknowledge_publication(
            connection,
            publication_id=claim.publication_id,
            generation=claim.generation,
            seq=claim.seq,
        )
    return told if outcome == "applied" else Fenced()


@dataclass(frozen=True, slots=True)
class _Known:
    """What GitHub is known to hold: the check, as it was last read if it was; checks made twice by a lost answer."""

    check_run_id: int | None
    shown: JsonObject | None = None
    doubles: tuple[int, ...] = ()


async def _look_for(github: GitHubClient, claim: ClaimedPublication) -> list[JsonObject] | Failure:
    """Our check runs on the commit that carry the publication's external id, in any order."""
    found: list[JsonObject] = []
    for page in range(1, MAX_LISTED_PAGES + 1):
        request = list_check_runs(
            claim.repository_owner,
            claim.repository_name,
            claim.commit_sha,
            check_name=claim.check_name,
            app_id=github.app_id,
            page=page,
        )
        answer = await github.request(claim.installation_id, request)
        if isinstance(answer, Failure):
            return answer
        listed = answer.body.get("check_runs") if isinstance(answer.body, Mapping) else None
        if not isinstance(listed, list):
            return Failure("transient", "malformed_answer", "a list of check runs has none")
        found += [
            one
            for one in listed
            if isinstance(one, Mapping)
            and one.get("external_id") == claim.external_id
            and isinstance(app := one.get("app"), Mapping)
            and app.get("id") == github.app_id
            and _check_run_id(one) is not None
        ]
        if len(listed) < CHECK_RUNS_PER_PAGE:
            break
    return found


def _choose(found: list[JsonObject], claim: ClaimedPublication) -> _Known:
    """The recorded check if there is one, else the one with the highest id; the others are doubles."""
    by_id = {identity: one for one in found if (identity := _check_run_id(one)) is not None}
    chosen = claim.check_run_id if claim.check_run_id is not None else max(by_id, default=None)
    if chosen is None:
        return _Known(None)
    return _Known(chosen, by_id.get(chosen), tuple(sorted(one for one in by_id if one != chosen)))


async def _tell(
    github: GitHubClient, claim: ClaimedPublication, said: CheckText, known: _Known
) -> Published | Failure:
    owner, name = claim.repository_owner, claim.repository_name
    body = _body(claim, said)
    for double in known.doubles:
        answer = await github.request(claim.installation_id, update_check_run(owner, name, double, body))
        if isinstance(answer, Failure):
            return answer
    if known.check_run_id is None:
        created = await github.request(
            claim.installation_id, create_check_run(owner, name, {**body, "head_sha": claim.commit_sha})
        )
        if isinstance(created, Failure):
            return created
        identity = _check_run_id(created.body)
        if identity is None:
            return Failure("uncertain", "malformed_answer", "a created check run has no id")
        return Published("created", identity)
    if known.shown is not None and _shows(known.shown, body):
        return Published("unchanged", known.check_run_id)
    answer = await github.request(
        claim.installation_id, update_check_run(owner, name, known.check_run_id, body)
    )
    return _updated(answer, claim, known.check_run_id)


def _updated(answer: Answer | Failure, claim: ClaimedPublication, check_run_id: int) -> Published | Failure:
    if isinstance(answer, Answer):
        return Published("updated", check_run_id)
    if answer.code == "not_found" and claim.send_count < MAX_MISSING_SENDS:
        return Failure("transient", "check_missing", answer.detail)
    return answer


def _body(claim: ClaimedPublication, said: CheckText) -> dict[str, object]:
    body: dict[str, object] = {
        "name": claim.check_name,
        "external_id": claim.external_id,
        "details_url": said.details_url,
        "status": said.verdict.check_status,
        "output": {"title": said.title, "summary": said.summary},
    }
    if said.verdict.conclusion is not None:
        body["conclusion"] = said.verdict.conclusion
    if said.completed_at is not None:
        body["completed_at"] = said.completed_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return body


def _shows(shown: JsonObject, body: JsonObject) -> bool:
    """Whether a check run, as GitHub shows it, already tells what the body would."""
    output, wanted = shown.get("output"), body["output"]
    if not isinstance(output, Mapping) or not isinstance(wanted, Mapping):
        return False
    return (
        all(shown.get(name) == body.get(name) for name in ("status", "conclusion", "details_url"))
        and output.get("title") == wanted["title"]
        and output.get("summary") == wanted["summary"]
    )


def _check_run_id(body: object) -> int | None:
    identity = body.get("id") if isinstance(body, Mapping) else None
    is_id = isinstance(identity, int) and not isinstance(identity, bool) and 0 < identity <= MAX_GITHUB_ID
    return identity if is_id else None


async def _recorded(database: Database, claim: ClaimedPublication, check_run_id: int) -> bool:
    async with database.connection() as connection:
        outcome = await record_check_run(
            connection,
            publication_id=claim.publication_id,
            generation=claim.generation,
            check_run_id=check_run_id,
        )
    return outcome == "applied"
