"""`/v1/preferences` and `/v1/workspace-state`, what people edit about themselves; and the API's own description."""

from importlib.metadata import version
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse

from satchel import wiring
from satchel.api.docs_page import docs_page
from satchel.api.http_app import base_url, expected_version, http_app, lambda_handler, require
from satchel.api.listing import registered
from satchel.api.openapi import openapi
from satchel.api.strict_json import parse_json
from satchel.api.validation import validate
from satchel.api.wire.profile import PreferencesBody
from satchel.api.wire.workspace import workspace_text
from satchel.profile.preferences import Preferences
from satchel.workspace.store import Workspace

app = http_app("preferences")


# The routes are coroutines that block: an execution environment serves one request at a time, and a thread for it
# would only cost.
@app.get("/v1/preferences")
async def get_preferences(request: Request) -> Response:
    """The stored preferences; `ETag` is their version, `"0"` where there are none."""
    caller = require(request, "context:read")
    return _preferences(wiring.profile_store(caller.user_id).preferences())


@app.put("/v1/preferences")
async def put_preferences(request: Request) -> Response:
    """Replace the preferences, only over the version in `If-Match` where there is one."""
    caller = require(request, "context:write")
    body = validate(PreferencesBody, parse_json(await request.body()))
    stored = wiring.profile_store(caller.user_id).put_preferences(
        body.to_preferences(), expected_version=expected_version(request), now=wiring.clock()
    )
    return _preferences(stored)


@app.get("/v1/workspace-state")
async def get_workspace_state(request: Request) -> Response:
    """The stored workspace; `ETag` is its version, `"0"` where there is none."""
    caller = require(request, "context:read")
    return _workspace(wiring.workspace_store(caller.user_id).workspace())


@app.put("/v1/workspace-state")
async def put_workspace_state(request: Request) -> Response:
    """Replace the workspace, only over the version in `If-Match` where there is one."""
    caller = require(request, "context:write")
    store = wiring.workspace_store(caller.user_id)
    text = workspace_text(await request.body())
    return _workspace(store.put_workspace(text, expected_version=expected_version(request), now=wiring.clock()))


@app.get("/")
async def get_root(request: Request) -> Response:
    """To the page for people: whoever opens the bare address wants to know what this is."""
    return RedirectResponse(f"{base_url(request)}/docs")


@app.get("/openapi.json")
async def get_openapi(request: Request) -> Response:
    """Describe the whole HTTPS API, under the URL the caller used."""
    return JSONResponse(_description(request))


@app.get("/docs")
async def get_docs(request: Request) -> Response:
    """Describe the whole HTTPS API to people."""
    return HTMLResponse(docs_page(_description(request)))


def _description(request: Request) -> dict[str, Any]:
    listed = registered(live=bool(wiring.settings().live_max_order))
    return openapi(listed, base_url=base_url(request), version=version("satchel"))


def _preferences(stored: Preferences) -> Response:
    return JSONResponse(PreferencesBody.of(stored).model_dump(), headers={"etag": f'"{stored.version}"'})


def _workspace(stored: Workspace) -> Response:
    return Response(stored.text, media_type="application/json", headers={"etag": f'"{stored.version}"'})


handler = lambda_handler(app)
