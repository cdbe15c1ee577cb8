"""`GET /v1/audit`: what was redacted, where and when; never the value."""

from satchel import filter_wiring
from satchel.api.handler import Call, query_route
from satchel.api.wire.filtering import AuditPage, AuditQuery


@query_route("audit", AuditQuery, scope="context:read")
def handler(query: AuditQuery, call: Call) -> AuditPage:
    """One page of the caller's audit log, newest first."""
    rows = filter_wiring.filter_store(call.user_id).audit(before=query.cursor, limit=query.limit + 1)
    return AuditPage.of(rows, query.limit)
