"""`/healthz`: the process answers. `/readyz`: it can do its work."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import JSONResponse

from boardreadyops.db.migrate import Fit
from boardreadyops.db.pages import reading
from boardreadyops.db.pool import DatabaseUnavailable
from boardreadyops.web.problems import RETRY_AFTER_SECONDS
from boardreadyops.web.sessions import Services

router = APIRouter(include_in_schema=False)


@router.get("/healthz")
async def healthz() -> Response:
    """Whether this process answers; looks at nothing else."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz")
async def readyz(services: Services) -> Response:
    """200 only when both logins reach the database and its schema is this program's; else 503 with the reason.

    Pages that use up all of the reader's connections have reached it: a replica is not taken out of service, heartbeats
    and intake with it, because its pages are slow.
    """
    try:
        async with services.app_database.connection() as connection:
            fit = await services.schema_fit(connection)
        if not services.reader_database.exhausted:
            async with reading(services.reader_database, frozenset()):
                pass
    except DatabaseUnavailable as error:
        return _not_ready("database_unavailable", str(error))
    if fit is not Fit.FITS:
        return _not_ready(fit.value, fit.advice)
    return JSONResponse({"status": "ready"})


def _not_ready(reason: str, detail: str) -> Response:
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return JSONResponse({"status": "not_ready", "reason": reason, "detail": detail}, 503, headers)
