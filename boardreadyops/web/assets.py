"""The few static files, read once and kept in memory."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from boardreadyops.web.etags import ETAG_DIGITS, is_known
from boardreadyops.web.problems import Problem

ASSET_CACHE_SECONDS = 300
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Asset:
    """A static file as it is sent."""

    content: bytes
    media_type: str
    etag: str


@router.get("/static/{name}")
async def static_file(request: Request, name: str) -> Response:
    """A static file, or 304."""
    asset = assets().get(name)
    if asset is None:
        raise Problem(404, "not_found", "There is no such file.")
    headers = {"ETag": asset.etag, "Cache-Control": f"public, max-age={ASSET_CACHE_SECONDS}"}
    if is_known(request, asset.etag):
        return Response(status_code=304, headers=headers)
    return Response(asset.content, 200, headers, asset.media_type)


@cache
def assets() -> dict[str, Asset]:
    """Every static file by its name."""
    found: dict[str, Asset] = {}
    for entry in files("boardreadyops.web").joinpath("static").iterdir():
        media_type = _TYPES.get(entry.name.rpartition(".")[2])
        if media_type is not None:
            content = entry.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:ETAG_DIGITS]}"'
            found[entry.name] = Asset(content, media_type, etag)
    return found
