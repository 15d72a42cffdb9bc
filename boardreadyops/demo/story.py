"""The story, step by step. Each step does one thing, asserts what must hold, and says it in one sentence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from boardreadyops.demo.stage import INSTALLATION_ID, NAME, OWNER, Stage
from boardreadyops.standin.webhooks import Delivery

PULL_REQUEST = 1
WAIT_SECONDS = 30.0
CHECK_NAME = "BoardReadyOps"


class StepFailed(AssertionError):
    """What a step asserts does not hold."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step; `act` returns the sentence that tells what happened."""

    name: str
    act: Callable[[Stage], Awaitable[str]]


def _expect(held: object, otherwise: str) -> None:
    """Fail the step unless it held."""
    if not held:
        raise StepFailed(otherwise)


async def _get_json(stage: Stage, path: str) -> dict[str, Any]:
    """One read of our own API."""
    answer = await stage.client.get(f"/api/v1{path}")
    _expect(answer.status_code == 200, f"GET /api/v1{path} answered {answer.status_code}")
    found: dict[str, Any] = answer.json()
    return found


def _accepted(delivery: Delivery, kind: str) -> Mapping[str, Any]:
    """The action of this kind that a delivery led to."""
    _expect(
        delivery.status == 202 and delivery.answer["status"] == "accepted",
        f"the {delivery.event} webhook answered {delivery.status}: {delivery.answer}",
    )
    actions = [action for action in delivery.answer["actions"] if action["kind"] == kind]
    _expect(len(actions) == 1, f"wanted one {kind} action, got {delivery.answer['actions']}")
    found: Mapping[str, Any] = actions[0]
    return found


async def _published(
    stage: Stage, commit: str, wanted: Callable[[Mapping[str, Any]], bool]
) -> dict[str, Any]:
    """The check of a commit on GitHub, as soon as it is as wanted."""
    return await stage.github.check_run(
        lambda check: check["head_sha"] == commit and check["name"] == CHECK_NAME and wanted(check),
        timeout_seconds=WAIT_SECONDS,
    )


async def _server_is_up(stage: Stage) -> str:
    ready = await stage.client.get("/readyz")
    _expect(ready.status_code == 200, f"/readyz answered {ready.status_code}: {ready.text}")
    page = await stage.client.get("/")
    _expect(page.status_code == 200 and "BoardReadyOps" in page.text, "the first page does not show")
    return "PostgreSQL is migrated, the server answers and the first page shows"


async def _forgery_is_refused(stage: Stage) -> str:
    answer = await stage.client.post(
        "/webhooks/github",
        content=b"{}",
        headers={
            "Content-Type": "application/json",
            "X-GitHub-Event": "pull_request",
            "X-GitHub-Delivery": "forged",
            "X-Hub-Signature-256": "sha256=" + "0" * 64,
        },
    )
    _expect(answer.status_code == 401, f"a forged webhook answered {answer.status_code}")
    return "a webhook with a forged signature is refused"


async def _app_is_installed(stage: Stage) -> str:
    ping = await stage.github.ping()
    _expect(ping.status == 202 and ping.answer["status"] == "ignored", f"ping answered {ping.answer}")
    _accepted(await stage.github.install(INSTALLATION_ID), "metadata")
    return f"GitHub says that the App was installed on {OWNER}/{NAME}"


async def _pull_request_opened(stage: Stage) -> str:
    delivery = await stage.github.open_pull_request(
        stage.repository,
        head_commit=stage.first_commit,
        number=PULL_REQUEST,
        title="Lay out the power board",
        updated_at=stage.next_moment(),
    )
    action = _accepted(delivery, "enqueue")
    _expect(action["outcome"] == "created", f"the run was not created: {action}")
    stage.memory["first_run"] = action["release_run_id"]
    return f"pull request #{PULL_REQUEST} opened at {stage.first_commit[:7]}: a run is queued"


async def _duplicate_changes_nothing(stage: Stage) -> str:
    again = await stage.github.redeliver(stage.github.deliveries[-1].delivery_id)
    _expect(again.status == 200 and again.answer["status"] == "duplicate", f"answered {again.answer}")
    runs = await _get_json(stage, "/runs")
    _expect(len(runs["items"]) == 1, f"there are {len(runs['items'])} runs")
    return "GitHub delivers the same event again: still one run"


async def _check_is_queued(stage: Stage) -> str:
    check = await _published(stage, stage.first_commit, lambda check: check["status"] == "queued")
    return f"GitHub shows the check: {check['output']['title']}"


async def _runner_takes_it(stage: Stage) -> str:
    await stage.start_runner()
    await _published(stage, stage.first_commit, lambda check: check["status"] != "queued")
    reasons = await _reasons(stage, stage.memory["first_run"])
    _expect("runner_lease_claimed" in reasons, f"no claim in the history: {reasons}")
    return "a runner enrolled, registered and took the run; the check is in progress"


async def _board_fails_visibly(stage: Stage) -> str:
    check = await _published(stage, stage.first_commit, lambda check: check["status"] == "completed")
    title = check["output"]["title"]
    _expect(check["conclusion"] == "failure", f"the check ended as {check['conclusion']}: {title}")
    _expect(title.startswith("Not ready"), f"the board was not judged: {title}")
    _expect("clearance" in check["output"]["summary"].lower(), "the check does not name the finding")
    _expect_honest_tool(stage, check)
    return f"the check failed and names the finding: {title}"


async def _page_tells_why(stage: Stage) -> str:
    run = await _get_json(stage, f"/runs/{stage.memory['first_run']}")
    _expect((run["status"], run["decision"]) == ("completed", "fail"), f"the API says {run}")
    page = await stage.client.get(f"/runs/{run['id']}")
    _expect(page.status_code == 200, f"the page answered {page.status_code}")
    for text in ("learance", "runner_lease_claimed", "runner_result_completed", stage.first_commit[:7]):
        _expect(text in page.text, f"the page does not show {text!r}")
    return f"the page tells the story: {stage.server_url}/runs/{run['id']}"


async def _fix_is_pushed(stage: Stage) -> str:
    delivery = await stage.github.push_to_pull_request(
        stage.repository, PULL_REQUEST, head_commit=stage.fixed_commit, updated_at=stage.next_moment()
    )
    action = _accepted(delivery, "enqueue")
    _expect(action["outcome"] == "created", f"the fix got no run of its own: {action}")
    stage.memory["fixed_run"] = action["release_run_id"]
    return f"the fix {stage.fixed_commit[:7]} is pushed and gets a run of its own"


async def _board_passes(stage: Stage) -> str:
    check = await _published(stage, stage.fixed_commit, lambda check: check["status"] == "completed")
    title = check["output"]["title"]
    _expect(check["conclusion"] == "success", f"the check ended as {check['conclusion']}: {title}")
    _expect_honest_tool(stage, check)
    return f"the check is green: {title}"


async def _pull_request_closed(stage: Stage) -> str:
    delivery = await stage.github.close_pull_request(
        stage.repository, PULL_REQUEST, updated_at=stage.next_moment()
    )
    _expect(delivery.status == 202, f"the close answered {delivery.status}: {delivery.answer}")
    for name, decision in (("first_run", "fail"), ("fixed_run", "pass")):
        run = await _get_json(stage, f"/runs/{stage.memory[name]}")
        _expect((run["status"], run["decision"]) == ("completed", decision), f"closing changed {run}")
    return "the pull request is closed; both answers stand"


async def _nothing_is_left_open(stage: Stage) -> str:
    checks = stage.github.check_runs
    _expect(len(checks) == 2, f"GitHub has {len(checks)} checks for two commits")
    _expect(all(check["status"] == "completed" for check in checks), "a check is still open")
    _expect(not stage.github.violations, f"GitHub's description was violated: {stage.github.violations}")
    for run_id in (stage.memory["first_run"], stage.memory["fixed_run"]):
        run = await _get_json(stage, f"/runs/{run_id}")
        events = (await _get_json(stage, f"/runs/{run_id}/transitions"))["items"]
        versions = sorted(event["to_version"] for event in events if event["entity_type"] == "release_run")
        _expect(versions == list(range(1, run["version"] + 1)), f"the history has gaps: {versions}")
    served = len(stage.github.served)
    return f"two commits, two checks, unbroken histories; all {served} requests were as GitHub describes them"


async def _reasons(stage: Stage, run_id: str) -> set[str]:
    events = await _get_json(stage, f"/runs/{run_id}/transitions")
    return {event["reason_code"] for event in events["items"]}


def _expect_honest_tool(stage: Stage, check: Mapping[str, Any]) -> None:
    text = f"{check['output']['summary']} {check['output'].get('text') or ''}"
    _expect(("recorded" in text) is stage.replayed, "the check does not say truly which kicad-cli spoke")


STORY = (
    Step("server up", _server_is_up),
    Step("forgery refused", _forgery_is_refused),
    Step("app installed", _app_is_installed),
    Step("pull request opened", _pull_request_opened),
    Step("duplicate delivery", _duplicate_changes_nothing),
    Step("check queued", _check_is_queued),
    Step("runner claims", _runner_takes_it),
    Step("board fails", _board_fails_visibly),
    Step("page tells why", _page_tells_why),
    Step("fix pushed", _fix_is_pushed),
    Step("board passes", _board_passes),
    Step("pull request closed", _pull_request_closed),
    Step("nothing left open", _nothing_is_left_open),
)


async def tell(stage: Stage, say: Callable[[Step, str, float], None]) -> None:
    """Play the story; `say` hears each step's sentence with the seconds it took. StepFailed names the step."""
    loop = asyncio.get_running_loop()
    for step in STORY:
        started = loop.time()
        try:
            sentence = await step.act(stage)
        except (StepFailed, TimeoutError, OSError, KeyError, RuntimeError) as error:
            raise StepFailed(f"{step.name}: {error}") from error
        say(step, sentence, loop.time() - started)
