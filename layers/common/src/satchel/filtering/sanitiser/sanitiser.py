"""Taking credentials and personal data out of tool results, explanations, logs: whatever leaves."""

from itertools import chain
from typing import Any

from satchel.filtering.sanitiser import field_values, personal_data
from satchel.filtering.sanitiser.configuration import SanitiserConfig
from satchel.filtering.sanitiser.detector import Detector
from satchel.filtering.sanitiser.finding import Finding, Sanitised, SanitisedText
from satchel.filtering.sanitiser.json_walk import Leaf, Walk, walk
from satchel.filtering.sanitiser.key_names import distinct_keys
from satchel.filtering.sanitiser.rebuilding import Changes, rebuild, shown_path
from satchel.filtering.sanitiser.redaction import ACTIONS, MASK, redact
from satchel.filtering.sanitiser.span import Span, settle
from satchel.filtering.sanitiser.token_rules import TokenRules

# A redaction may bring apart what was joined and so uncover something; each pass takes more out.
_MAX_PASSES = 5


class Sanitiser:
    """The redaction engine. One instance serves a process; it keeps nothing of what it has seen.

    Args:
        config: What counts and what is done about it.
    """

    def __init__(self, config: SanitiserConfig | None = None) -> None:
        self.config = config or SanitiserConfig()
        self._tokens = TokenRules()
        self._detectors: dict[tuple[str, ...], Detector] = {}

    def sanitise(self, value: Any, *, tool_name: str = "") -> Sanitised:
        """The JSON value without what was found in its texts, numbers and keys.

        The value given is not changed; it is the value returned where nothing was found. Strings that hold JSON stay
        JSON, and those in which nothing was found stay as they are, byte for byte. Keys that a redaction makes equal
        are numbered: `[REDACTED]`, `[REDACTED]#2`. Doing it twice equals doing it once.

        Raises:
            InvalidInputError: The value is nested beyond 20,000 levels.
        """
        result, findings = self._sanitised(walk(value), self.detector_for(tool_name))
        return Sanitised(value if result is None else result[0], tuple(findings))

    def sanitise_text(self, text: str, *, tool_name: str = "") -> SanitisedText:
        """The text without what was found in it; a text that is JSON stays JSON."""
        result = self.sanitise(text, tool_name=tool_name)
        return SanitisedText(result.value, result.findings)

    def spans(self, text: str, *, tool_name: str = "") -> list[Span]:
        """What would be redacted in a text read as plain text; offsets are code points, end exclusive."""
        data = text.encode("utf-8", "surrogatepass")
        found = self.detector_for(tool_name).find(data)
        return found if len(data) == len(text) else _in_characters(data, found)

    def detector_for(self, tool_name: str) -> Detector:
        """The detectors with the custom patterns that apply to this tool."""
        patterns = self.config.patterns_for(tool_name)
        names = tuple(pattern.name for pattern in patterns)
        if names not in self._detectors:
            self._detectors[names] = Detector(
                self._tokens,
                custom=tuple((pattern.name, pattern.pattern) for pattern in patterns),
                allowed=self.config.allowlist,
                pii=self.config.pii_detection,
            )
        return self._detectors[names]

    def _sanitised(self, seen: Walk, detector: Detector) -> tuple[list[Any] | None, list[Finding]]:
        action = ACTIONS[self.config.strategy]
        keys = self._redacted_keys(seen, detector)
        found = self._found_in_texts(seen, detector)
        changes = Changes()
        findings: list[Finding] = []
        cleaned = self._cleaned([(_encoded(leaf.text), spans, leaf) for leaf, spans in found], detector)
        for (leaf, _), data in zip(found, cleaned, strict=True):
            is_gone = leaf.is_number and self.config.strategy == "remove"
            changes.set(leaf.container, leaf.key, None if is_gone else _decoded(data))
        if keys:
            for container in seen.objects:
                renamed = distinct_keys(container.value, {key: new for key, (new, _) in keys.items()})
                changes.rename(container, renamed)
                for old, new in renamed.items():
                    path = shown_path(container, new, changes)
                    findings += [Finding(span.rule, span.finding_class, path, action) for span in keys[old][1]]
        for leaf, spans in found:
            path = shown_path(leaf.container, leaf.key, changes)
            findings += [Finding(span.rule, span.finding_class, path, action) for span in spans]
        return rebuild(seen.documents, changes), findings

    def _found_in_texts(self, seen: Walk, detector: Detector) -> list[tuple[Leaf, list[Span]]]:
        found = detector.find_each(seen.texts)
        leaves = [(seen.leaf(index), found.get(index, [])) for index in sorted({*found, *seen.kinds})]
        corrected = [(leaf, self._found(_encoded(leaf.text), leaf, spans, detector)) for leaf, spans in leaves]
        return [(leaf, spans) for leaf, spans in corrected if spans]

    def _found(self, data: bytes, leaf: Leaf | None, spans: list[Span], detector: Detector) -> list[Span]:
        """What was found in the text, corrected by what the field's name says."""
        if leaf is None:
            return spans
        name = leaf.key
        if isinstance(name, str) and spans:
            spans = [span for span in spans if not personal_data.is_cleared(span.rule, name)]
        if leaf.kind is None:
            return spans
        told = field_values.find(data, leaf.kind, pii=self.config.pii_detection)
        return settle(spans + [span for span in told if detector.counts(data, span)])

    def _redacted_keys(self, seen: Walk, detector: Detector) -> dict[str, tuple[str, list[Span]]]:
        """Keys in which something was found, with their redacted form before numbering."""
        keys = list(dict.fromkeys(chain.from_iterable(seen.shapes)))
        found = detector.find_each(keys)
        cleaned = self._cleaned([(_encoded(keys[index]), spans, None) for index, spans in found.items()], detector)
        return {
            keys[index]: (_decoded(data), spans) for (index, spans), data in zip(found.items(), cleaned, strict=True)
        }

    def _cleaned(self, texts: list[tuple[bytes, list[Span], Leaf | None]], detector: Detector) -> list[bytes]:
        """Redact until nothing is found, so that doing it again changes nothing; all texts in one go."""
        cleaned = [redact(data, spans, self.config.strategy) for data, spans, _ in texts]
        unsettled = list(range(len(texts)))
        for _ in range(_MAX_PASSES):
            if not unsettled:
                break
            found = detector.find_each([_decoded(cleaned[index]) for index in unsettled])
            again: list[int] = []
            for position, index in enumerate(unsettled):
                spans = self._found(cleaned[index], texts[index][2], found.get(position, []), detector)
                if spans:
                    cleaned[index] = redact(cleaned[index], spans, self.config.strategy)
                    again.append(index)
            unsettled = again
        for index in unsettled:
            cleaned[index] = MASK
        return cleaned


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _in_characters(data: bytes, spans: list[Span]) -> list[Span]:
    """The same spans with offsets in code points; they are in order and do not overlap."""
    translated: list[Span] = []
    at = count = 0
    for span in spans:
        start = count + len(_decoded(data[at : span.start]))
        count = start + len(_decoded(data[span.start : span.end]))
        translated.append(span._replace(start=start, end=count))
        at = span.end
    return translated
