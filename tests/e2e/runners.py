"""Runners: one that a test plays by hand over HTTP, and the real program with a kicad-cli made for the occasion."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

import httpx

from boardreadyops.db.runners import issue_runner_enrollment
from boardreadyops.demo.processes import run_command
from boardreadyops.runner.credentials import new_token, token_digest
from tests.e2e.programs import Program
from tests.e2e.system import Json, System, Tenant, result_body
from tests.kicad.boards import fake_cli

CLEAN = {
    "coordinate_units": "mm",
    "kicad_version": "9.0.8",
    "violations": [],
    "unconnected_items": [],
    "schematic_parity": [],
    "sheets": [{"path": "/", "violations": []}],
}


class HandRunner:
    """A registered runner of one installation; each call is one HTTP request."""

    def __init__(self, system: System, token: str) -> None:
        self.system = system
        self.token = token

    async def ask(self, *, wait_seconds: int = 0, request_id: str | None = None) -> httpx.Response:
        body = {"capabilities": [], "wait_seconds": wait_seconds, "request_id": request_id or str(uuid4())}
        return await self.system.client.post("/runner/v1/leases", json=body, headers=bearer(self.token))

    async def claim(self) -> Json:
        """A lease; there must be work."""
        answer = await self.ask(wait_seconds=10)
        assert answer.status_code == 201, (answer.status_code, answer.text)
        lease: Json = answer.json()
        return lease

    async def call(self, lease: Json, what: str, **request: object) -> httpx.Response:
        path = f"/runner/v1/leases/{lease['lease_id']}/{what}"
        return await self.system.client.post(path, json=request, headers=bearer(lease["lease_token"]))

    async def beat(self, lease: Json, stage: str) -> Json:
        answer = await self.call(lease, "heartbeat", stage=stage, progress=1, message="at work")
        assert answer.status_code == 200, answer.text
        document: Json = answer.json()
        return document

    async def report(self, lease: Json, body: bytes | None = None) -> httpx.Response:
        path = f"/runner/v1/leases/{lease['lease_id']}/result"
        headers = {**bearer(lease["lease_token"]), "Content-Type": "application/json"}
        return await self.system.client.post(path, content=body or result_body(lease), headers=headers)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def enrol(tenant: Tenant, name: str = "bench") -> str:
    """An enrolment token for this installation, issued as an operator does."""
    answer = await run_command(
        *(
            "runner",
            "issue-enrollment",
            "--installation",
            str(tenant.installation_id),
            "--name",
            name,
            "--json",
        ),
        environment=tenant.system.environment,
    )
    token: str = answer["enrollment_token"]
    return token


async def hand_runner(tenant: Tenant) -> HandRunner:
    token = new_token("bre_")
    async with tenant.system.database() as connection:
        await issue_runner_enrollment(
            connection, installation_id=tenant.installation_id, repository_ids=None, name="bench",
            token_digest=token_digest(token), ttl_seconds=60,
        )  # fmt: skip
    body = {"enrollment_token": token.reveal(), "name": "bench", "version": "1"}
    answer = await tenant.system.client.post("/runner/v1/registrations", json=body)
    assert answer.status_code == 201, answer.text
    return HandRunner(tenant.system, answer.json()["token"])


async def register(tenant: Tenant, folder: Path, *, server: str | None = None) -> Path:
    """Register the real runner program; the file of its registration."""
    state = folder / "runner.json"
    await run_command(
        *(
            "runner",
            "register",
            "--server",
            server or tenant.system.url,
            "--name",
            "bench",
            "--state",
            str(state),
        ),
        environment=tenant.system.environment,
        standard_input=await enrol(tenant),
    )
    return state


async def start_runner(tenant: Tenant, folder: Path, state: Path, script: str) -> Program:
    """The real runner with a kicad-cli that does what the shell script says."""
    kicad = fake_cli(folder, script)
    return await Program.start(
        *("runner", "run", "--state", str(state), "--kicad-cli", str(kicad.path)),
        *("--work-folder", str(folder / "work")),
        environment=tenant.system.environment,
    )


def reporting(folder: Path, document: Json | None = None) -> str:
    """A script for kicad-cli: this report (a clean one), with the words that go with it."""
    told = CLEAN | (document or {})
    report, clean = folder / "drc-report.json", folder / "erc-report.json"
    report.write_text(json.dumps(told, ensure_ascii=False))
    clean.write_text(json.dumps(CLEAN))
    count = len(told["violations"])
    return (
        "echo 'Found 0 schematic parity issues'\n"
        f'case $out in */erc-*) cp {clean} "$out"; echo "Found 0 violations"; exit 0;; esac\n'
        f'cp {report} "$out"; echo "Found {count} violations"; exit {5 if count else 0}'
    )


def hanging(pipe: Path) -> str:
    """A script for kicad-cli that never ends, with a child that ignores SIGTERM; both tell their process ids."""
    return f"(trap '' TERM; sh -c 'echo $PPID >{pipe}'; while :; do sleep 30; done) &\necho $$ >{pipe}\nwait"
