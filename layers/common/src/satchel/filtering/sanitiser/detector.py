"""All detectors over one text."""

from bisect import bisect_right
from itertools import accumulate

from satchel.filtering.sanitiser import assignments, encoded, personal_data, wire_formats
from satchel.filtering.sanitiser.patterns import Pattern
from satchel.filtering.sanitiser.span import Span, settle
from satchel.filtering.sanitiser.token_rules import TokenRules

_LAYERS = 2  # base64 in a percent-encoded parameter and the like


class Detector:
    """Finds what must not get out of a text.

    Args:
        tokens: The rules about shapes; compiled once and shared.
        custom: `(rule id, compiled RE2 pattern)` pairs of the configuration.
        allowed: Compiled patterns; a find that one of them matches as a whole stays.
        pii: Whether personal data counts.
    """

    def __init__(
        self,
        tokens: TokenRules,
        *,
        custom: tuple[tuple[str, Pattern], ...] = (),
        allowed: tuple[Pattern, ...] = (),
        pii: bool = True,
    ) -> None:
        self._tokens = tokens
        self._custom = custom
        self._allowed = allowed
        self._pii = pii

    def find(self, data: bytes) -> list[Span]:
        """Spans over the bytes, in order, without overlap."""
        return settle([span for span in self._search(data, layers=_LAYERS) if self.counts(data, span)])

    def _search(self, data: bytes, *, layers: int) -> list[Span]:
        spans = [*self._tokens.find(data), *assignments.find(data), *wire_formats.find(data)]
        if self._pii:
            spans += personal_data.find(data)
        for rule, pattern in self._custom:
            spans += [Span(m.start(), m.end(), rule, "secret") for m in pattern.finditer(data) if m.end() > m.start()]
        if layers:
            spans += encoded.find(data, lambda decoded: self._search(decoded, layers=layers - 1))
        return spans

    def find_each(self, texts: list[bytes], separator: bytes) -> dict[int, list[Span]]:
        """Spans of each text in which something was found, by the text's position; all are searched in one go.

        The separator must be one that no find can contain.
        """
        starts = list(accumulate((len(text) + len(separator) for text in texts), initial=0))
        found: dict[int, list[Span]] = {}
        for span in self.find(separator.join(texts)):
            index = bisect_right(starts, span.start) - 1
            start = starts[index]
            found.setdefault(index, []).append(span._replace(start=span.start - start, end=span.end - start))
        return found

    def counts(self, data: bytes, span: Span) -> bool:
        """Whether a find stands: it is within one text and not on the list of what is allowed."""
        text = data[span.start : span.end]
        return b"\x00" not in text and not any(pattern.fullmatch(text) is not None for pattern in self._allowed)
