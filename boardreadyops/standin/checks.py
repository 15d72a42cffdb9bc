"""Check runs: GitHub's rules for creating, updating and listing them."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from boardreadyops.standin.calls import Answer, Call, Json, not_found, page, refused
from boardreadyops.standin.shapes import Shapes
from boardreadyops.standin.signals import Signals
from boardreadyops.standin.state import CheckRun, Repository, World, iso

MAXIMUM_OUTPUT_BYTES = 65_535
MAXIMUM_ANNOTATIONS_PER_REQUEST = 50
MAXIMUM_ANNOTATION_BYTES = 65_536
MAXIMUM_ANNOTATION_TITLE_CHARACTERS = 255
MAXIMUM_ACTIONS = 3
ACTION_CHARACTERS: Mapping[str, int] = {"label": 20, "description": 40, "identifier": 20}
STATUSES = ("queued", "in_progress", "completed")
CONCLUSIONS = ("action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out")
DIRECT_FIELDS = ("name", "details_url", "external_id", "started_at", "completed_at", "status")

CompletedChecks = Literal["change", "keep"]


@dataclass(slots=True)
class Checks:
    """The check-run endpoints; `completed` says whether an update of a completed check changes it.

    GitHub's documentation leaves that open, so tests can have both.
    """

    world: World
    shapes: Shapes
    signals: Signals
    completed: CompletedChecks

    def create(self, repository: Repository, body: Mapping[str, Json], app_id: int) -> Answer:
        """Create a check run: 201, or 422 for what GitHub refuses."""
        problems = [*_problems(body), *_creation_problems(body, repository)]
        if problems:
            return invalid(problems)
        now = iso(self.world.clock())
        home = str(self.shapes.app(app_id)["external_url"])
        identity = next(self.world.check_run_ids)
        check = CheckRun(identity, repository, app_id, body["head_sha"], body["name"], home, now)
        self.world.check_runs[check.id] = check
        self._apply(check, body, "created")
        return Answer(201, self.shapes.check_run(check))

    def update(self, call: Call, repository: Repository, body: Mapping[str, Json]) -> Answer:
        """Update a check run of our App: 200; 403 for another App's, 404, 422."""
        check = self._find(call, repository)
        if check is None:
            return not_found()
        if check.app_id != self.world.app_id:
            return refused(
                403,
                f"Invalid app_id `{self.world.app_id}` - check run can only be modified by the GitHub App that created it.",
            )
        problems = [*_problems(body)]
        if problems:
            return invalid(problems)
        if check.status == "completed" and self.completed == "keep":
            return Answer(200, self.shapes.check_run(check))
        self._apply(check, body, "updated")
        return Answer(200, self.shapes.check_run(check))

    def _apply(self, check: CheckRun, body: Mapping[str, Json], kind: str) -> None:
        now = self.world.clock()
        for name in DIRECT_FIELDS:
            if body.get(name) is not None:
                setattr(check, name, body[name])
        if body.get("conclusion") is not None:
            check.status, check.conclusion = "completed", body["conclusion"]
            check.completed_at = body.get("completed_at") or iso(now)
        elif check.status != "completed":
            check.conclusion = check.completed_at = None
        output = dict(body.get("output") or {})
        check.annotations.extend(copy.deepcopy(output.pop("annotations", None) or []))
        output.pop("images", None)
        check.output.update(output)
        if body.get("actions") is not None:
            check.actions = copy.deepcopy(body["actions"])
        check.history.append(
            {
                "kind": kind,
                "arrived_at": now,
                "status": check.status,
                "conclusion": check.conclusion,
                "request": body,
            }
        )
        self.signals.changed()

    def get(self, call: Call, repository: Repository) -> Answer:
        """Return one check run."""
        check = self._find(call, repository)
        return not_found() if check is None else Answer(200, self.shapes.check_run(check))

    def annotations(self, call: Call, repository: Repository) -> Answer:
        """Return a page of a check run's annotations, oldest first."""
        check = self._find(call, repository)
        if check is None:
            return not_found()
        blob = f"{self.shapes.origin}/{repository.full_name}/blob/{check.head_sha}"
        absent = dict.fromkeys(("start_column", "end_column", "title", "raw_details"))
        shown = [{**absent, **one, "blob_href": f"{blob}/{one['path']}"} for one in check.annotations]
        items, headers = page(call, f"{self.shapes.origin}{call.path}", shown)
        return Answer(200, items, headers)

    def list_for_ref(self, call: Call, repository: Repository) -> Answer:
        """Return a page of a commit's check runs, newest first; `latest` keeps one for each App and name."""
        sha = repository.resolve(call.params["ref"])
        if sha is None:
            return refused(422, f"No commit found for SHA: {call.params['ref']}")
        found = [
            one
            for one in self.world.check_runs.values()
            if one.repository is repository and one.head_sha == sha
        ]
        found.sort(key=lambda one: one.id, reverse=True)
        if call.query.get("filter", "latest") == "latest":
            newest = {(one.app_id, one.name): one for one in reversed(found)}
            found = [one for one in found if newest[one.app_id, one.name] is one]
        wanted = [one for one in found if _matches(one, call.query)]
        items, headers = page(call, f"{self.shapes.origin}{call.path}", wanted)
        body = {"total_count": len(wanted), "check_runs": [self.shapes.check_run(one) for one in items]}
        return Answer(200, body, headers)

    def _find(self, call: Call, repository: Repository) -> CheckRun | None:
        text = call.params["check_run_id"]
        check = self.world.check_runs.get(int(text)) if text.isascii() and text.isdigit() else None
        return check if check is not None and check.repository is repository else None


def invalid(problems: list[str]) -> Answer:
    """Return the 422 of a check run request with its problems."""
    errors = [{"resource": "CheckRun", "code": "custom", "message": problem} for problem in problems]
    return refused(422, "Validation Failed", errors)


def _matches(check: CheckRun, query: Mapping[str, str]) -> bool:
    facts = {"check_name": check.name, "status": check.status, "app_id": str(check.app_id)}
    return all(query.get(name, value) == value for name, value in facts.items())


def _creation_problems(body: Mapping[str, Json], repository: Repository) -> Iterator[str]:
    if not isinstance(body.get("name"), str) or not body["name"]:
        yield "name wasn't supplied"
    if body.get("head_sha") not in repository.commits:
        yield f"No commit found for SHA: {body.get('head_sha')}"
    if body.get("output") is not None and not body["output"].get("title"):
        yield "output.title wasn't supplied"


def _problems(body: Mapping[str, Json]) -> Iterator[str]:
    status, conclusion = body.get("status"), body.get("conclusion")
    if status is not None and status not in STATUSES:
        yield f"status {status} can only be set by GitHub Actions"
    if conclusion is not None and conclusion not in CONCLUSIONS:
        yield f"conclusion {conclusion} cannot be set"
    if conclusion is None and (status == "completed" or body.get("completed_at") is not None):
        yield "conclusion wasn't supplied"
    url = body.get("details_url")
    if url is not None and not url.startswith(("http://", "https://")):
        yield "details_url must use http or https scheme"
    yield from _output_problems(body.get("output") or {})
    actions = body.get("actions") or []
    if len(actions) > MAXIMUM_ACTIONS:
        yield f"no more than {MAXIMUM_ACTIONS} actions are allowed"
    for action in actions:
        for name, limit in ACTION_CHARACTERS.items():
            if not 0 < len(action.get(name, "")) <= limit:
                yield f"action {name} must have 1 to {limit} characters"


def _output_problems(output: Mapping[str, Json]) -> Iterator[str]:
    if output and not isinstance(output.get("summary"), str):
        yield "output.summary wasn't supplied"
    for name in ("summary", "text"):
        length_bytes = len((output.get(name) or "").encode())
        if length_bytes > MAXIMUM_OUTPUT_BYTES:
            yield f"output.{name}: only {MAXIMUM_OUTPUT_BYTES} bytes are allowed; {length_bytes} were supplied"
    annotations = output.get("annotations") or []
    if len(annotations) > MAXIMUM_ANNOTATIONS_PER_REQUEST:
        yield f"no more than {MAXIMUM_ANNOTATIONS_PER_REQUEST} annotations are allowed in a request"
    for annotation in annotations:
        yield from _annotation_problems(annotation)


def _annotation_problems(annotation: Mapping[str, Json]) -> Iterator[str]:
    start, end = annotation.get("start_line"), annotation.get("end_line")
    if not annotation.get("path") or not annotation.get("message"):
        yield "annotation path and message must not be empty"
    if not isinstance(start, int) or not isinstance(end, int) or not 1 <= start <= end:
        yield "annotation lines start at 1 and end_line is not before start_line"
    elif start != end and ("start_column" in annotation or "end_column" in annotation):
        yield "annotation columns need start_line and end_line to be the same"
    if len(annotation.get("title") or "") > MAXIMUM_ANNOTATION_TITLE_CHARACTERS:
        yield f"annotation title is limited to {MAXIMUM_ANNOTATION_TITLE_CHARACTERS} characters"
    for name in ("message", "raw_details"):
        if len((annotation.get(name) or "").encode()) > MAXIMUM_ANNOTATION_BYTES:
            yield f"annotation {name} is limited to {MAXIMUM_ANNOTATION_BYTES} bytes"
