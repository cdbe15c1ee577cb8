"""What is declared, what is pinned, and what the layers pack."""

import re
import tomllib
from pathlib import Path

import pytest

EVERYTHING = Path("constraints.txt")
SUBSETS = [
    Path("constraints-serve.txt"),
    Path("layers/common/requirements.txt"),
    Path("layers/embeddings/requirements.txt"),
]
# One pin with its hashes; one typed by hand has none, and pip would refuse the whole file.
PIN = re.compile(
    r"^([a-z0-9.-]+)==(\S+)(?: ; [^\\]+)? \\\n((?: {4}--hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.MULTILINE
)


def pins(path: Path) -> dict[str, set[str]]:
    """Versions by name; numpy has one for each of two ranges of Python."""
    found: dict[str, set[str]] = {}
    for name, version, _hashes in PIN.findall(path.read_text(encoding="utf-8")):
        found.setdefault(name, set()).add(version)
    return found


def declared(*requirements: str) -> set[str]:
    return {re.split(r"[\[<>=!~ ;]", requirement, maxsplit=1)[0].lower() for requirement in requirements}


@pytest.mark.parametrize("path", [EVERYTHING, *SUBSETS], ids=str)
def test_a_lock_holds_hashed_pins_and_nothing_else(path):
    text = path.read_text(encoding="utf-8")
    assert PIN.sub("", text) == "", "run `make lock` after changing a pyproject.toml"


@pytest.mark.parametrize("path", SUBSETS, ids=str)
def test_every_lock_pins_what_the_whole_one_pins(path):
    everything = pins(EVERYTHING)
    for name, versions in pins(path).items():
        assert versions <= everything[name], name


def test_every_declared_dependency_is_pinned_where_it_is_needed():
    package = tomllib.loads(Path("layers/common/pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    extras = package["optional-dependencies"]
    at_run_time = declared(*package["dependencies"])
    embeddings = declared(*extras["embeddings"])
    live, parquet = declared(*extras.pop("live")), declared(*extras.pop("parquet"))
    local = declared(*(requirement for extra in extras.values() for requirement in extra))
    serve = declared(*groups["serve"])
    develop = declared(*(entry for entry in groups["dev"] if isinstance(entry, str)))
    assert at_run_time <= pins(Path("layers/common/requirements.txt")).keys()
    assert embeddings == pins(Path("layers/embeddings/requirements.txt")).keys()
    assert live <= pins(Path("layers/exchange/requirements.txt")).keys()
    assert at_run_time | local | serve <= pins(Path("constraints-serve.txt")).keys()
    assert at_run_time | local | serve | live | parquet | develop <= pins(EVERYTHING).keys()
