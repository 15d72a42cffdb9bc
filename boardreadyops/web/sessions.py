"""Who may read: the operator, at the own machine without a word, from elsewhere with OPERATOR_TOKEN."""

from __future__ import annotations

import base64
import binascii
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from boardreadyops.config import PREFIX, Secret, Settings
from boardreadyops.db.pages import Tenants
from boardreadyops.web.problems import Problem
from boardreadyops.web.wiring import WebServices, services_of

# A proxy in front of a loopback port makes everybody look local, so whatever one adds ends the local session.
_FORWARDING_HEADERS = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


def readable_tenants(request: Request) -> Tenants:
    """The tenants this request may read; Problem 401 naming the way in when there is none."""
    services = services_of(request)
    if is_local_operator(request, services.settings):
        return "*"
    token = services.settings.operator_token
    if token is None:
        raise _locked(
            "unauthorized",
            f"Reading from here needs an operator token, and none is set: set {PREFIX}OPERATOR_TOKEN.",
        )
    given = _given_token(request)
    if given is None or given != token:
        raise _locked("unauthorized", f"Send the token of {PREFIX}OPERATOR_TOKEN as a bearer token.")
    return "*"


Reader = Annotated[Tenants, Depends(readable_tenants)]
Services = Annotated[WebServices, Depends(services_of)]


def is_local_operator(request: Request, settings: Settings) -> bool:
    """Whether this is somebody at the machine itself, on its own embedded database, with no proxy between.

    The Host header is looked at too: a page elsewhere can point its own name at 127.0.0.1, but not call itself localhost.
    """
    return (
        settings.database_url is None
        and is_loopback(settings.host)
        and request.client is not None
        and is_loopback(request.client.host)
        and is_loopback(_named_host(request))
        and not any(name in request.headers for name in _FORWARDING_HEADERS)
    )


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine alone."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bearer_token(request: Request) -> Secret | None:
    """The bearer token of the Authorization header; None when there is none."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return Secret(value.strip()) if scheme.lower() == "bearer" and value.strip() else None


def _named_host(request: Request) -> str:
    try:
        return urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    except ValueError:
        return ""


def _given_token(request: Request) -> Secret | None:
    """A bearer token, or what a browser's password box sends; the user name is free."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return bearer_token(request)
    try:
        _user, _, password = base64.b64decode(value, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return Secret(password)


def _locked(code: str, detail: str) -> Problem:
    return Problem(401, code, detail, {"WWW-Authenticate": 'Bearer realm="BoardReadyOps"'})
