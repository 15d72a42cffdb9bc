"""Cut GitHub's OpenAPI description and webhook examples down to what the stand-in speaks.

`python -m boardreadyops.standin.cut_openapi NODE_MODULES` reads the npm packages `@octokit/openapi` and
`@octokit/webhooks-examples` below that folder and rewrites `vendored/`. The same input gives the same bytes.
"""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

VENDORED = Path(__file__).parent / "vendored"

OPERATIONS: dict[str, tuple[str, ...]] = {
    "/app": ("get",),
    "/app/installations/{installation_id}": ("get",),
    "/app/installations/{installation_id}/access_tokens": ("post",),
    "/repos/{owner}/{repo}": ("get",),
    "/repos/{owner}/{repo}/check-runs": ("post",),
    "/repos/{owner}/{repo}/check-runs/{check_run_id}": ("get", "patch"),
    "/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations": ("get",),
    "/repos/{owner}/{repo}/commits/{ref}/check-runs": ("get",),
    "/repos/{owner}/{repo}/git/ref/{ref}": ("get",),
    "/repos/{owner}/{repo}/pulls": ("get",),
    "/repos/{owner}/{repo}/pulls/{pull_number}": ("get",),
}
"""The operations we keep, by path template of GitHub's description."""

WEBHOOKS: dict[tuple[str, str | None], int] = {
    ("pull_request", "opened"): 0,
    ("pull_request", "synchronize"): 0,
    ("pull_request", "closed"): 0,
    ("pull_request", "reopened"): 0,
    ("installation", "created"): 0,
    ("installation", "deleted"): 1,
    ("installation", "suspend"): 0,
    ("installation", "unsuspend"): 0,
    ("ping", None): 0,
}
"""Which example of an (event, action) we keep: an index among those of the same action (the App's own shape)."""

ERROR_SCHEMAS = ("basic-error", "validation-error", "validation-error-simple")
"""Kept although unreferenced: GitHub documents few error answers, and we hold all of ours to these."""

Tree = Any


def references(tree: Tree) -> Iterator[str]:
    """Yield every local `$ref` in a tree, in document order."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == "$ref" and isinstance(value, str):
                yield value
            else:
                yield from references(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from references(value)


def mended(tree: Tree) -> Tree:
    """Return the tree with `null` added to every nullable enum.

    JSON Schema lets an enum overrule `nullable`; GitHub means null to be allowed, as its own examples show.
    """
    if isinstance(tree, list):
        return [mended(value) for value in tree]
    if not isinstance(tree, dict):
        return tree
    copy = {key: mended(value) for key, value in tree.items()}
    enum = copy.get("enum")
    if copy.get("nullable") is True and isinstance(enum, list) and None not in enum:
        copy["enum"] = [*enum, None]
    return copy


def cut(full: dict[str, Tree]) -> dict[str, Tree]:
    """Return the part of GitHub's description that `OPERATIONS` reach, its nullable enums mended."""
    paths: dict[str, Tree] = {}
    for path, methods in OPERATIONS.items():
        described = full["paths"][path]
        paths[path] = {method: described[method] for method in methods}
        if "parameters" in described:
            paths[path]["parameters"] = described["parameters"]
    components: dict[str, dict[str, Tree]] = {}
    waiting = [*references(paths), *(f"#/components/schemas/{name}" for name in ERROR_SCHEMAS)]
    while waiting:
        _, _, kind, name = waiting.pop().split("/")
        room = components.setdefault(kind, {})
        if name not in room:
            room[name] = full["components"][kind][name]
            waiting.extend(references(room[name]))
    kept = {"openapi": full["openapi"], "info": full["info"], "servers": full["servers"]}
    result: dict[str, Tree] = mended({**kept, "paths": paths, "components": components})
    return result


def write_json(path: Path, tree: Tree) -> None:
    """Write a tree as UTF-8 JSON with sorted keys, one space of indent and a final newline."""
    path.write_text(
        json.dumps(tree, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8", newline="\n"
    )


def write_examples(examples: list[Tree]) -> None:
    """Write the chosen webhook examples as `webhooks/<event>.<action>.json`, keys in GitHub's order."""
    by_event = {entry["name"]: entry["examples"] for entry in examples}
    for (event, action), index in WEBHOOKS.items():
        same_action = [example for example in by_event[event] if example.get("action") == action]
        # Deliveries to a GitHub App name the installation; those of other hooks do not, so they do not count.
        ours = [example for example in same_action if "installation" in example or event == "ping"]
        name = event if action is None else f"{event}.{action}"
        text = json.dumps(ours[index], indent=1, ensure_ascii=False) + "\n"
        (VENDORED / "webhooks" / f"{name}.json").write_text(text, encoding="utf-8", newline="\n")


def main(node_modules: Path) -> None:
    """Rewrite `vendored/` from the two npm packages below `node_modules`."""
    octokit = node_modules / "@octokit"
    openapi = octokit / "openapi"
    (VENDORED / "webhooks").mkdir(parents=True, exist_ok=True)
    full = json.loads((openapi / "generated" / "api.github.com.json").read_text(encoding="utf-8"))
    write_json(VENDORED / "github-openapi.json", cut(full))
    shutil.copyfile(openapi / "LICENSE", VENDORED / "LICENSE")
    examples = octokit / "webhooks-examples" / "api.github.com" / "index.json"
    write_examples(json.loads(examples.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
