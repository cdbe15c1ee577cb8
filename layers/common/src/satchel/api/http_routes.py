"""The HTTPS routes that are not one of `POST /v1/tools/{name}`: what each takes and answers, for the API's description.

A test holds this table against `template.yaml`, so a route cannot be served and not described.
"""

from dataclasses import dataclass

from pydantic import BaseModel

from satchel.api.wire.blocks import BuildRequest
from satchel.api.wire.built_blocks import BuildResponse
from satchel.api.wire.chat import ChatArguments, ChatResult, JobResult, LinkCode
from satchel.api.wire.filtering import AuditPage, FilterArguments, FilterResult
from satchel.api.wire.profile import PreferencesBody
from satchel.api.wire.response_upload import ResponseUpload
from satchel.api.wire.stored_blocks import IngestRequest, IngestResponse
from satchel.api.wire.uploads import StartRequest, StartResponse, UploadResponse
from satchel.api.wire.upstream import UpstreamResult
from satchel.api.wire.workspace import WorkspaceBody


@dataclass(frozen=True)
class HttpRoute:
    """One route.

    Attributes:
        method: In upper case.
        path: As in the template.
        summary: One line for people.
        scope: What a token needs; None where no token is needed.
        request: The model of the body; None without one.
        response: The model of a good answer's body; None where that is no JSON of ours.
        query: Names of query parameters; all are needed.
        versioned: Whether the answer has an `ETag` and a write takes `If-Match`.
    """

    method: str
    path: str
    summary: str
    scope: str | None = None
    request: type[BaseModel] | None = None
    response: type[BaseModel] | None = None
    query: tuple[str, ...] = ()
    versioned: bool = False


ROUTES = (
    HttpRoute(
        "POST",
        "/v1/session-blocks:build",
        "Cut a session into topical blocks",
        scope="context:read",
        request=BuildRequest,
        response=BuildResponse,
    ),
    HttpRoute(
        "POST",
        "/v1/session-blocks:ingest-message",
        "Save one message and place it in a block of its session",
        scope="context:write",
        request=IngestRequest,
        response=IngestResponse,
    ),
    HttpRoute(
        "POST",
        "/v1/session-blocks:upload",
        "Ask where the messages of a session of any length go",
        scope="context:read",
        response=UploadResponse,
    ),
    HttpRoute(
        "POST",
        "/v1/session-blocks:start",
        "Cut a session whose messages were uploaded",
        scope="context:read",
        request=StartRequest,
        response=StartResponse,
    ),
    HttpRoute("GET", "/v1/resources", "Read a context resource by its URI", scope="context:read", query=("uri",)),
    HttpRoute(
        "GET",
        "/v1/preferences",
        "Read the caller's preferences",
        scope="context:read",
        response=PreferencesBody,
        versioned=True,
    ),
    HttpRoute(
        "PUT",
        "/v1/preferences",
        "Replace the caller's preferences",
        scope="context:write",
        request=PreferencesBody,
        response=PreferencesBody,
        versioned=True,
    ),
    HttpRoute(
        "GET",
        "/v1/workspace-state",
        "Read the caller's workspace",
        scope="context:read",
        response=WorkspaceBody,
        versioned=True,
    ),
    HttpRoute(
        "PUT",
        "/v1/workspace-state",
        "Replace the caller's workspace",
        scope="context:write",
        request=WorkspaceBody,
        response=WorkspaceBody,
        versioned=True,
    ),
    HttpRoute(
        "POST",
        "/v1/responses:filter",
        "Cut a tool's answer to what matters",
        scope="context:write",
        request=FilterArguments,
        response=FilterResult,
    ),
    HttpRoute(
        "POST",
        "/v1/responses:upload",
        "Ask where a tool's answer of any length goes",
        scope="context:write",
        response=ResponseUpload,
    ),
    HttpRoute(
        "POST",
        "/v1/tools/{name}",
        "Call a tool of an upstream MCP server, filtered",
        scope="context:write",
        response=UpstreamResult,
    ),
    HttpRoute("GET", "/v1/audit", "Read what was redacted, newest first", scope="context:read", response=AuditPage),
    HttpRoute(
        "POST",
        "/v1/chat",
        "Say something to the assistant; 202 with a job where the answer takes longer",
        scope="context:write",
        request=ChatArguments,
        response=ChatResult,
    ),
    HttpRoute("GET", "/v1/chat/jobs/{job_id}", "Ask for an answer", scope="context:write", response=JobResult),
    HttpRoute(
        "POST", "/v1/chat/links", "Make a code that links a Telegram chat", scope="context:write", response=LinkCode
    ),
    HttpRoute("DELETE", "/v1/chat/links", "Forget the linked Telegram chats", scope="context:write"),
    HttpRoute("POST", "/v1/telegram", "Take an update of Telegram"),
    HttpRoute("POST", "/mcp", "Speak MCP (streamable HTTP)"),
    HttpRoute("GET", "/.well-known/oauth-protected-resource", "Say who signs tokens for this server (RFC 9728)"),
    HttpRoute("GET", "/healthz", "Say whether everything serves"),
    HttpRoute("GET", "/openapi.json", "Describe this API"),
    HttpRoute("GET", "/docs", "Describe this API to people"),
    HttpRoute("GET", "/", "Go to that page"),
)
