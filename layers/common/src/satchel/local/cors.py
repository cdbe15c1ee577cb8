"""CORS as API Gateway's HTTP API does it: the gateway answers preflights and owns the headers of every answer.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-cors.html
"""

from collections.abc import Mapping

from satchel.local.template import Cors


def is_preflight(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a request (header names in lower case) only asks for permission."""
    return method == "OPTIONS" and "origin" in headers and "access-control-request-method" in headers


def preflight_headers(cors: Cors, origin: str) -> dict[str, str]:
    """The headers of the 204 that answers a preflight; none for an origin that is not allowed."""
    allowed = _allow(cors, origin)
    if not allowed:
        return {}
    if cors.methods:
        allowed["access-control-allow-methods"] = ",".join(cors.methods)
    if cors.headers:
        allowed["access-control-allow-headers"] = ",".join(cors.headers)
    if cors.max_age_s is not None:
        allowed["access-control-max-age"] = str(cors.max_age_s)
    return allowed


def answer_headers(cors: Cors, origin: str) -> dict[str, str]:
    """The headers added to any answer, an error of the gateway's own included."""
    allowed = _allow(cors, origin)
    if allowed and cors.expose:
        allowed["access-control-expose-headers"] = ",".join(cors.expose)
    return allowed


def _allow(cors: Cors, origin: str) -> dict[str, str]:
    if not origin or not any(_matches(pattern, origin) for pattern in cors.origins):
        return {}
    headers = {"access-control-allow-origin": "*" if "*" in cors.origins else origin}
    if "*" not in cors.origins:
        headers["vary"] = "origin"
    if cors.credentials:
        headers["access-control-allow-credentials"] = "true"
    return headers


def _matches(pattern: str, origin: str) -> bool:
    """API Gateway knows `*` alone, or at the end as in `https://*`."""
    return origin.startswith(pattern[:-1]) if pattern.endswith("*") else origin == pattern
