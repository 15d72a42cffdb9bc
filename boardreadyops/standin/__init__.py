"""GitHub on loopback: REST, git over HTTP and webhooks, held to GitHub's own description. Imports no product code."""

from boardreadyops.standin.stand_in import StandIn

__all__ = ["StandIn"]
