"""Code, configuration and commands in a chat message, by rules.

Fences first: chat fences start in the middle of a line, are left open, and carry text where a language should
stand, which is where a Markdown parser gives up. What is left is judged line by line.
"""

import re
from collections.abc import Iterator

from satchel.blocks.languages import language_named, language_of
from satchel.blocks.sessions import Snippet

_READ_CHARS = 200_000
_MAX_LINE_CHARS = 2_000
_FENCE = re.compile(r"`{3,}|^[ \t]*~{3,}", re.MULTILINE)
_INFO = re.compile(r"[ \t]*([A-Za-z][\w+#.-]{0,20})?(?:[ \t]+(?:\{[^\n{}]*\}|[\w-]+=[^\n]*))?[ \t]*\r?\n")
_INLINE = re.compile(r"(?<!`)`([^`\n]{4,300})`(?!`)")

_TOOL_NAMES = (
    "npm", "npx", "yarn", "pnpm", "bower", "pip", "pip3", "pipx", "uv", "poetry", "conda", "git", "docker",
    "docker-compose", "kubectl", "helm", "sudo", "apt", "apt-get", "yum", "dnf", "pacman", "brew", "snap", "curl",
    "wget", "cd", "ls", "cp", "mv", "rm", "mkdir", "chmod", "chown", "cat", "grep", "sed", "awk", "tar", "ssh",
    "scp", "rsync", "systemctl", "service", "journalctl", "python", "python3", "node", "deno", "bun", "tsc", "ng",
    "java", "javac", "mvn", "gradle", "./gradlew", "cargo", "rustc", "rustup", "make", "cmake", "gcc", "g++",
    "psql", "mysql", "redis-cli", "aws", "gcloud", "az", "terraform", "ansible", "export", "source", "echo", "kill",
    "killall", "modprobe", "mount", "dpkg", "pytest", "sam", "nvm", "ping", "ifconfig", "lsmod", "dmesg",
)  # fmt: skip
_TOOLS = "|".join(map(re.escape, _TOOL_NAMES))
# Without a sign of its own a text is code where a line begins like code or, among others, like a key, or it tells
# an error.
_CODE_SIGN = re.compile(r"[;{}=<>$|\\\[`#(@]")
_BEGINS_CODE = frozenset((
    *_TOOL_NAMES, "import", "package", "class", "def", "func", "fn", "use", "using", "struct", "select", "insert",
    "update", "delete", "create", "alter", "drop", "from", "run", "copy", "workdir", "entrypoint", "cmd", "expose",
    "at",
))  # fmt: skip
_ERROR_WORDS = ("Error", "Exception", "Traceback", "ERR!")
# A command is a tool and something that only a command has after it: an option, a path, an assignment, a known verb.
_COMMAND = re.compile(
    rf"^\s*(?:[$%>]\s+|[\w.@~-]+[:~][^\s]*[$#]\s+)?(?:sudo\s+)?(?:{_TOOLS})\s+(?:\S+\s+){{0,6}}?"
    r"(?:--?[A-Za-z][\w-]*|[\w.~-]*/[\w./~-]+|\S+=\S+"
    r"|[\w-]+\.(?:py|js|ts|sh|json|ya?ml|txt|c|go|rs|sql|deb|gz)\b|install\b|uninstall\b|update\b|upgrade\b|run\b"
    r"|build\b|start\b|stop\b|restart\b|status\b|add\b|commit\b|push\b|pull\b|clone\b|checkout\b|rebase\b|merge\b"
    r"|reset\b|branch\b|init\b|test\b|exec\b|apply\b|get\b|logs\b|ps\b|up\b|down\b)"
)
_PROMPT = re.compile(r"^\s*(?:\$\s+[a-z./~]|[\w-]+@[\w-]+[:~][^\s]*[$#]\s|>>>\s|In \[\d+\]:|PS [A-Z]:\\)")
_STRONG = re.compile(
    r"""^\s*(?:
      (?:async\s+)?def\s+\w+\s*\(.*\)\s*(?:->\s*[^:]+)?:            # Python
    | class\s+\w+\s*(?:\([^)]*\))?\s*[:{]
    | class\s+[A-Z]\w*\s*<\s*[\w:.\[\]]+\s*$ | def\s+[\w.]+[?!]?\s*(?:\([^()]*\))?\s*$ # Ruby
    | (?:case|data|sealed|record)\s+(?:class\s+)?[A-Z]\w*\s*\(\s*\w+\s*:\s*\w
    | (?:for|while|until|if)\b.*;\s*(?:do|then)\s*$
    | def(?:module|macro|p)?\s+[\w.]+[^.]*\bdo:?(?:\s|$)              # Elixir
    | (?:from\s+[\w.]+\s+)?import\s+(?:
        [\w.*{},\s]+\s+from\s+["'][^"']+["'];?
      | [\w.]+(?:\s+as\s+\w+)?(?:,\s*[\w.]+)*;?\s*$ | \{ | \()
    | (?:export\s+)?(?:default\s+)?(?:const|let|var|val)\s+[\w{\[][^=]*=\s*\S
    | (?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*\w*\s*\(
    | (?:export\s+)?(?:abstract\s+)?(?:class|interface|enum|namespace|module|struct|trait|impl)\s+[\w<>,\s.]+\{
    | (?:export\s+)?type\s+\w+(?:<[^>]*>)?\s*=
    | (?:public|private|protected|internal|static|final|override)\s+[\w<>\[\],\s]+[({=;]
    | (?:if|for|while|switch|catch|foreach)\s*\(.*\)\s*(?:\{|\w.*;)\s*$
    | (?:if|elif|while|for|with|try|except|else|finally)\b[^.?!]*:\s*$
    | \}?\s*(?:else|catch|finally)\b.*\{\s*$
    | (?:return|throw|raise|await|yield|break|continue)\b[^.?!]*;\s*$
    | \#\s*(?:include|define|ifdef|ifndef|endif|pragma)\b
    | @\w+(?:\([^)]*\))?\s*(?:\{|$)
    | SELECT\s+[\w*("] | (?:GROUP|ORDER)\s+BY\s+[\w("] | (?:(?:LEFT|INNER|CROSS)\s+)?JOIN\s+[\w(".]+\s
    | (?:INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\b
    | (?:CREATE\s+(?:TABLE|INDEX|UNIQUE|VIEW)|ALTER\s+TABLE|DROP\s+TABLE)\b
    | </?[A-Za-z][\w:.-]*(?:\s+[\w:@.*()\[\]\#-]+(?:=(?:"[^"]*"|'[^']*'|\{[^}]*\}))?)*\s*/?>
    | (?:FROM|RUN|COPY|ENV|WORKDIR|ENTRYPOINT|CMD|EXPOSE)\s+[\w./\["$-].*$
    | (?:func|fn)\s+(?:\([^)]*\)\s*)?\w+\s*[(<]
    | package\s+[\w.]+;?\s*$ | using\s+[\w.]+;\s*$ | use\s+[\w:]+(?:::\{[^}]*\})?;\s*$
    | Traceback\s\(most\srecent\scall\slast\): | File\s"[^"]+",\sline\s\d+
    | at\s+[\w.$<>\[\]/\s]+\((?:.*:\d+(?::\d+)?|Native\sMethod|Unknown\sSource)\)
    | \d{4}-\d\d-\d\d[T\s]\d\d:\d\d:\d\d\S*\s+\S*(?:ERROR|WARN|INFO|DEBUG|FATAL|TRACE)\b  # a log
    | (?:[a-z]\w*\.){2,}[A-Z]\w*(?:Error|Exception)\b
    | (?:Get|Set|New|Remove|Start|Stop|Invoke|Import|Export|Test|Write|Select|Where)-[A-Z]\w+\s+(?:-[A-Z]|\||\$)
    | (?:[A-Z]\w*(?:Error|Exception)|npm\sERR!|error\[?\w*\]?)(?::|\s).*
    | \[[\w.:-]+\]\s*$                                              # [section]
    | export\s+\w+=\S+ | [A-Z][A-Z0-9_]{2,}=\S*\s*$                  # KEY=value
    | "[\w.$/-]+"\s*:\s*(?:["\d{\[]|true|false|null).*               # JSON
    | [{}\[\]()]+[;,]?\s*$ | \}\s*\)?[;,]\s*$
    | (?:[-+]{3}\s[ab]/|@@\s-\d+)
    )""",
    re.VERBOSE,
)
_WEAK = re.compile(
    r"""(?: ;\s*$ | \{\s*$ | =>\s* | ^\s*[\w.\[\]"'$]+\s*(?:[-+*/|&]?=|:=)\s*\S
      | ^\s*[\w.$]+(?:\.\w+)*\((?:[^()]|\([^()]*\))*\)\s*;?\s*$
      | ^\s*(?:end|done|fi)\s*$ | ^\s*[\w.]+\s<-\s\S | ^\s*\w+\s:\w+,?(?:\s|$)
      | ^\s*(?:WHERE|HAVING|AND|OR|SET|VALUES|LIMIT)\s+\S | ^\s*\.[\w$]+\( | ^\s*(?://|/\*|\*/|\#|--)\s
      | ^\s*-\s[\w.-]+(?::\s|=) | ^\s*[\w.-]+:\s*(?:$|[\w"'\[{./-]+\s*$)
      | ^\s*(?:return|throw|raise|await|yield|pass|print)\b | ^\s*\w+\s*<<?=?\s*\w+
      | &&|\|\||::|->|!==?|=== | ^\s+[\w.]+\(.*,\s*$ )""",
    re.VERBOSE,
)
_PROSE = re.compile(
    r"\b(?:the|is|are|was|you|your|i|i'm|it's|to|of|and|that|this|have|what|how|can|do|does|but|so|my|me|we|would"
    r"|should|could|there|just|not|with|when|why|please|thanks?|think|know|want|need|like|they|if you)\b",
    re.IGNORECASE,
)
_SURE, _MAYBE, _NO = 2, 1, 0
# This many lines that could be code make code without one that is for sure.
_ENOUGH = 3
_STRINGS = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|//.*$|#\s.*$|--\s.*$")
_LETTER_WORD = re.compile(r"[A-Za-z']+")
_HANGUL = re.compile(r"[\uac00-\ud7a3]")


def find_snippets(text: str, message_id: str) -> Iterator[Snippet]:
    """Yield the snippets of one message in order, content verbatim.

    Reads the first 200,000 characters.
    """
    text = text[:_READ_CHARS]
    has_fence = "```" in text or "~~~" in text
    start = 0
    while fence := _FENCE.search(text, start) if has_fence else None:
        yield from _unfenced(text[start : fence.start()], message_id)
        body, language, start = _fenced(text, fence)
        if body.strip() and ("\n" in body or not _reads_as_prose(body)):
            yield Snippet(language or language_of(body), body, message_id)
    if start < len(text):
        yield from _unfenced(text[start:], message_id)


def _fenced(text: str, fence: re.Match[str]) -> tuple[str, str, int]:
    """The body, language and end of the block that `fence` opens; an unclosed one runs to the end."""
    mark = fence[0].strip()
    closing = text.find(mark, fence.end())
    end = closing if closing >= 0 else len(text)
    body = text[fence.end() : end]
    language = ""
    info = _INFO.match(body)
    if info and (
        info[1] is None or language_named(info[1]) or (info.end() > len(info[1]) and _lone_word(info[1], body))
    ):
        language = language_named(info[1] or "")
        body = body[info.end() :]
    after = end + len(mark)
    while closing >= 0 and text[after : after + 1] == mark[0]:
        after += 1
    return body.removesuffix("\n").removesuffix("\r"), language, min(after, len(text))


def _lone_word(word: str, body: str) -> bool:
    """Whether the first line is only a word, and so an unknown language rather than code."""
    first, _, rest = body.partition("\n")
    return first.strip() == word and bool(rest.strip())


def _unfenced(text: str, message_id: str) -> Iterator[Snippet]:
    """The snippets of a text without fences: runs of lines that are code, and commands in single backticks."""
    if not _may_hold_code(text):
        return
    group: list[str] = []
    signs: list[int] = []
    for line in text.split("\n"):
        sign = _sign_of(line)
        if sign or (group and _goes_on(line, group)):
            group.append(line)
            signs.append(sign)
            continue
        yield from _snippet_of(group, signs, message_id)
        group, signs = [], []
        for inline in _INLINE.finditer(line):
            if _COMMAND.match(inline[1]) or _PROMPT.match(inline[1]):
                yield Snippet(language_of(inline[1]), inline[1], message_id)
    yield from _snippet_of(group, signs, message_id)


def _may_hold_code(text: str) -> bool:
    """Whether looking at every line is worth it; most chat messages are plain sentences."""
    if _CODE_SIGN.search(text) or any(word in text for word in _ERROR_WORDS):
        return True
    lines = text.split("\n")
    for line in lines:
        first, _, rest = line.strip().partition(" ")
        if (rest and first.lower() in _BEGINS_CODE) or (len(lines) > 1 and ":" in line):
            return True
    return False


def _snippet_of(lines: list[str], signs: list[int], message_id: str) -> Iterator[Snippet]:
    """The lines as one snippet, where they are code taken together."""
    if _SURE in signs or signs.count(_MAYBE) >= _ENOUGH:
        body = "\n".join(lines).rstrip()
        yield Snippet(language_of(body), body, message_id)


def _goes_on(line: str, group: list[str]) -> bool:
    """Whether a line without a sign of its own belongs to the code above it: blank, or indented under it."""
    if not line.strip():
        return bool(group[-1].strip())
    return line[:1] in " \t" and not _reads_as_prose(line)


def _sign_of(line: str) -> int:
    """Whether a line is code; one that reads as prose is not, whatever it holds."""
    if not line.strip() or len(line) > _MAX_LINE_CHARS:
        return _NO
    if _PROMPT.match(line):
        return _SURE
    if _reads_as_prose(line):
        return _NO
    if _COMMAND.match(line) or _STRONG.match(line):
        return _SURE
    return _MAYBE if _WEAK.search(line) else _NO


def _reads_as_prose(line: str) -> bool:
    bare = _STRINGS.sub("", line)
    if len(_HANGUL.findall(bare)) > 3:  # noqa: PLR2004 - one Korean word may be an identifier
        return True
    words = len(_LETTER_WORD.findall(bare))
    common = len(_PROSE.findall(bare))
    return common >= 2 and common * 6 >= words  # noqa: PLR2004 - two function words in twelve
