"""Resource URIs and their templates (RFC 6570: `{name}` within the path, one `{?a,b}` at the end)."""

import re
from functools import cache
from urllib.parse import parse_qsl, unquote

from satchel.errors import InvalidInputError

_PLACE = re.compile(r"\{(\??)([a-z_,]+)\}")


def match_uri(template: str, uri: str) -> dict[str, str] | None:
    """The variables of `template` as `uri` sets them, percent-decoded; None where `uri` is of another form.

    A query variable that is absent is left out; one the template does not know makes the form another one, so
    that a misspelt parameter is told and not ignored.

    Raises:
        InvalidInputError: A query variable stands twice, the text is not UTF-8 once decoded, or a variable of the path
            holds a NUL.
    """
    pattern, path_names, query_names = _compiled(template)
    path, _, query = uri.partition("?")
    found = pattern.fullmatch(path)
    if found is None:
        return None
    try:
        uri.encode()  # a lone surrogate has no place in a URI, nor in the answer that repeats it
        values = {name: unquote(found[name], errors="strict") for name in path_names}
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict")
    except UnicodeError as error:
        raise InvalidInputError("the URI is not UTF-8 once percent-decoded", field="uri") from error
    for name, value in values.items():
        if "\0" in value:  # no id has one, and no store could look for it
            raise InvalidInputError(f"{name} must not hold a NUL", field=name)
    for name, value in pairs:
        if name not in query_names:
            return None
        if name in values:
            raise InvalidInputError(f"{name} stands twice in the URI", field=name)
        values[name] = value
    return values


@cache
def _compiled(template: str) -> tuple[re.Pattern[str], tuple[str, ...], frozenset[str]]:
    path_names: list[str] = []
    query_names: list[str] = []
    pattern, end = "", 0
    for place in _PLACE.finditer(template):
        pattern += re.escape(template[end : place.start()])
        end = place.end()
        if place[1]:
            query_names += place[2].split(",")
        else:
            pattern += f"(?P<{place[2]}>[^/?#]+)"
            path_names.append(place[2])
    return re.compile(pattern + re.escape(template[end:])), tuple(path_names), frozenset(query_names)
