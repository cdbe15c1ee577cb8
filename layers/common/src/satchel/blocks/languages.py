"""Which language a piece of code is in: by the name on its fence, else by signs that few others have."""

import re

_ALIASES = {
    "js": "javascript", "jsx": "javascript", "node": "javascript", "mjs": "javascript", "javascript": "javascript",
    "ts": "typescript", "tsx": "typescript", "typescript": "typescript",
    "py": "python", "python": "python", "python3": "python", "pycon": "python",
    "sh": "bash", "shell": "bash", "bash": "bash", "zsh": "bash", "console": "bash", "terminal": "bash", "cmd": "bash",
    "powershell": "powershell", "ps1": "powershell",
    "yml": "yaml", "yaml": "yaml", "json": "json", "json5": "json", "jsonc": "json", "toml": "toml", "ini": "ini",
    "conf": "ini", "env": "ini", "properties": "ini", "nginx": "nginx",
    "html": "html", "xml": "xml", "css": "css", "scss": "scss", "less": "less", "vue": "vue", "svelte": "svelte",
    "sql": "sql", "psql": "sql", "mysql": "sql", "postgresql": "sql", "graphql": "graphql",
    "java": "java", "kotlin": "kotlin", "kt": "kotlin", "scala": "scala", "groovy": "groovy", "gradle": "groovy",
    "c": "c", "h": "c", "cpp": "cpp", "c++": "cpp", "cc": "cpp", "cs": "csharp", "csharp": "csharp", "c#": "csharp",
    "go": "go", "golang": "go", "rust": "rust", "rs": "rust", "swift": "swift", "dart": "dart", "php": "php",
    "rb": "ruby", "ruby": "ruby", "perl": "perl", "lua": "lua", "r": "r", "julia": "julia", "matlab": "matlab",
    "haskell": "haskell", "hs": "haskell", "elixir": "elixir", "clojure": "clojure",
    "dockerfile": "dockerfile", "docker": "dockerfile", "makefile": "makefile", "make": "makefile",
    "hcl": "hcl", "terraform": "hcl", "tf": "hcl", "diff": "diff", "patch": "diff", "proto": "protobuf",
    "protobuf": "protobuf", "md": "markdown", "markdown": "markdown", "text": "text", "txt": "text", "plain": "text",
    "plaintext": "text", "log": "text", "output": "text", "csv": "csv", "regex": "regex", "vim": "vim",
}  # fmt: skip

# In order of how sure a sign is; the first that is found decides.
_SIGNS = tuple(
    (language, re.compile("|".join(signs), re.MULTILINE))
    for language, *signs in (
        ("diff", r"^(?:@@ -\d|(?:---|\+\+\+) [ab]/)"),
        (
            "python",
            r"^\s*(?:Traceback \(most|>>> |(?:async )?def \w+\(.*\).*:|from [\w.]+ import |elif\b.*:|except\b.*:)",
            r"^\s*(?:import \w+(?: as \w+)?$|print\(|with \w.*\bas \w+:)",
        ),
        ("php", r"<\?php", r"^\s*\$\w+\s*=.*;", r"->\w+\("),
        ("dockerfile", r"^(?:FROM \S+(?: AS \w+)?$|RUN \w|COPY \S+ \S+|WORKDIR /|ENTRYPOINT \[)"),
        (
            "sql",
            r"^\s*(?i:SELECT\b[^;]*\bFROM\b|INSERT INTO|UPDATE \w+ SET|CREATE (?:TABLE|INDEX)|ALTER TABLE|DELETE FROM)",
        ),
        ("rust", r"\bfn \w+.*\{|\blet mut\b|\bimpl\b.*\{|println!\(|^\s*use \w+::"),
        ("go", r"^package \w+$|\bfunc (?:\(\w+ \*?\w+\) )?\w+\(.*\{|:=|fmt\.\w+\("),
        (
            "cpp",
            r"#include <(?:iostream|vector|string|map|memory|algorithm)>",
            r"\bstd::|cout\s*<<|\btemplate\s*<",
        ),
        ("c", r"#include\s*[<\"]|\bint main\(|\bprintf\(\""),
        ("csharp", r"^\s*using [\w.]+;|\bnamespace [\w.]+\s*\{?$|Console\.Write|\bpublic\b.*\{ get;"),
        ("kotlin", r"\bfun \w+\(|\bval \w+(?::| =)|\bdata class\b"),
        (
            "java",
            r"\bpublic (?:static |final )*(?:class|void|interface)\b|System\.out\.|^\s*import java",
            r"@(?:Override|Autowired|Entity|OneToMany)\b|\bprivate (?:final )?[A-Z]\w+(?:<.*>)? \w+;",
            r"\bprivate (?:int|long|boolean|double) \w+|^\s+at [\w.$]+\(\w+\.java:\d+\)",
        ),
        (
            "typescript",
            r"\binterface \w+(?:<.*>)? ?(?:extends .*)?\{|\bimplements\b|\bas (?:any|string|const)\b",
            r":\s*(?:string|number|boolean|any|void|unknown)\b(?:\[\])?\s*[;,)=|{]|\bprivate \w+:",
            r"^\s*(?:export )?type \w+.* =|@(?:Component|Injectable|Input|Output|NgModule)\(",
        ),
        (
            "html",
            r"<(?i:!doctype|html|head|body|div|span|script|a|p|ul|li|input|form|button|template|img|table)\b[^>]*>",
        ),
        (
            "javascript",
            r"\b(?:const|let|var) [\w{\[][^=]*=|\bfunction\s*\w*\s*\(|=>|require\(|console\.\w+\(",
            r"\bmodule\.exports\b|^\s*(?:import|export)\b.*from ['\"]|^\s+at .*\.js:\d+|\.then\(|\$\(",
        ),
        ("css", r"^\s*[.#@]?[\w-]+(?:[ ,>:.#][\w-]+)*\s*\{\s*$(?:\s*[\w-]+:\s*[^;]+;)+"),
        ("json", r"^\s*[{\[]?\s*\"[^\"]+\"\s*:\s*"),
        ("xml", r"^\s*</?[\w:.-]+(?:\s[^>]*)?>"),
        (
            "bash",
            r"^\s*(?:\$ |#!/|[\w-]+@[\w-]+[:~]\S*[$#] |sudo |npm |npx |yarn |pip3? |git |docker |kubectl |curl )",
            r"^\s*(?:apt(?:-get)? |wget |cd |ls |mkdir |chmod |export \w+=|python3? |node |cargo |make |brew |tar )",
            r"^\s*(?:systemctl |ssh |scp |dpkg |echo |source |mvn |\./)|\| grep ",
        ),
        ("ruby", r"^\s*(?:def \w+$|end$|require '|puts )"),
        ("toml", r"^\[[\w.\"-]+\]\s*$(?:\s*[\w-]+ = )+"),
        ("ini", r"^\s*(?:\[[\w .:-]+\]\s*$|[A-Z][A-Z0-9_]+=)"),
        ("yaml", r"^\s*(?:- )?[\w.-]+:(?: \S.*)?$(?:\s*^\s*(?:- )?[\w.-]+:?.*$)+"),
    )
)
_READ_CHARS = 20_000


def language_named(name: str) -> str:
    """The language that a fence names, by its usual name, or "" for a name we do not know."""
    return _ALIASES.get(name.lower(), "")


def language_of(code: str) -> str:
    """The language of `code` by its signs; `text` where none is found."""
    code = code[:_READ_CHARS]
    return next((language for language, sign in _SIGNS if sign.search(code)), "text")
