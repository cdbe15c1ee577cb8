"""The API's description as one page for people: plain HTML, readable offline and without scripts."""

import json
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
details { border: 1px solid #8884; border-radius: .5rem; margin: .5rem 0; padding: .5rem 1rem; }
summary { cursor: pointer; }
code, pre { font: .9rem/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; background: #8881; padding: .75rem; border-radius: .25rem; }
.method { display: inline-block; min-width: 3.5rem; font-weight: 600; }
.scope { float: right; opacity: .7; }
"""


def docs_page(description: dict[str, Any]) -> str:
    """An OpenAPI description as HTML.

    Args:
        description: As `satchel.api.openapi.openapi` makes it.
    """
    operations = "\n".join(
        _operation(method, path, operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    )
    base = escape(description["servers"][0]["url"])
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Satchel API</title><style>{_STYLE}</style></head><body>"
        f"<h1>Satchel API</h1><p>Base URL <code>{base}</code>. Calls carry <code>Authorization: Bearer TOKEN</code>"
        f' unless marked open. Machine-readable: <a href="{base}/openapi.json">openapi.json</a>.</p>'
        f"{operations}</body></html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    scope = escape(operation.get("x-scope", "open"))
    parts = [f"<p>{escape(operation['description'])}</p>"] if "description" in operation else []
    bodies: tuple[tuple[str, dict[str, Any]], ...] = (
        ("Request", operation.get("requestBody", {})),
        ("Answer", operation["responses"]["200"]),
    )
    for title, body in bodies:
        if "content" in body:
            schema = body["content"]["application/json"]["schema"]
            parts.append(f"<h4>{title}</h4><pre>{escape(json.dumps(schema, indent=2, ensure_ascii=False))}</pre>")
    return (
        f'<details><summary><span class="method">{method.upper()}</span> <code>{escape(path)}</code> '
        f'{escape(operation["summary"])} <span class="scope">{scope}</span></summary>{"".join(parts)}</details>'
    )
