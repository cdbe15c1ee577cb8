"""The page on which a developer says who they are and lets a client in."""

from html import escape

from satchel.local.authorization_provider import PendingConsent

# No script, nothing from elsewhere, in nobody's frame.
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in to Satchel</title>
<style>
  body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 30rem; margin: 4rem auto; padding: 0 1rem; }}
  input, button {{ font: inherit; padding: .4rem .8rem; }}
</style>
<h1>Sign in to Satchel</h1>
<p><strong>{client}</strong> asks for access and will be sent back to <code>{redirect}</code>.</p>
<p>It may then use:</p>
<ul>{scopes}</ul>
<form method="post">
  <input type="hidden" name="request" value="{request}">
  <p><label>User <input name="user" value="alice" required maxlength="256" autofocus></label></p>
  <p><button name="decision" value="allow">Allow</button>
     <button name="decision" value="deny" formnovalidate>Deny</button></p>
</form>
<p>This is a development server: it believes the name you give.</p>
</html>
"""


def render(name: str, consent: PendingConsent) -> str:
    """Return the page for the waiting request `name`."""
    return _PAGE.format(
        client=escape(consent.client.client_name or "A client"),
        redirect=escape(str(consent.params.redirect_uri)),
        scopes="".join(f"<li><code>{escape(scope)}</code></li>" for scope in consent.scopes),
        request=escape(name),
    )
