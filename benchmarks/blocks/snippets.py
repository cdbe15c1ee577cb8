"""Measures how well code that stands without a fence is found.

    python benchmarks/blocks/snippets.py FILE.jsonl [--show N] [--json]

Lines of code are those of `own_code.txt`, which were written and labelled for this. FILE, as for `run.py`, gives prose:
of its messages without a backtick or a placeholder for code, how many hold a snippet all the same. Some of these are
code indeed; `--show` prints them. The last line is one JSON object.
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from satchel.blocks.snippets import find_snippets

NO_CODE_HERE = ("tiage", "dialseg711", "superseg", "ko_manual")


def labelled() -> Iterator[list[tuple[str, bool]]]:
    """The messages of `own_code.txt`: their lines, and whether each is code."""
    text = Path(__file__).with_name("own_code.txt").read_text(encoding="utf-8")
    for paragraph in text.split("\n\n"):
        lines = [line for line in paragraph.split("\n") if line and not line.startswith("#")]
        yield [(line[2:], line.startswith("C")) for line in lines]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    arguments = parser.parse_args()
    hits = missed = extra = 0
    for message in labelled():
        snippets = find_snippets("\n".join(line for line, _ in message), "m")
        found = {line.strip() for snippet in snippets for line in snippet.content.split("\n")}
        for line, is_code in message:
            is_found = line.strip() in found
            hits += is_found and is_code
            missed += is_code and not is_found
            extra += is_found and not is_code
            if arguments.show and line.strip() and is_found != is_code:
                print("missed" if is_code else "extra ", line)
    rows = [json.loads(line) for line in arguments.data.read_text(encoding="utf-8").splitlines() if line.strip()]
    texts = {(row["corpus"], message[3]) for row in rows for message in row["msgs"] if message[3]}
    prose = sorted((corpus, text) for corpus, text in texts if "`" not in text and "<-CODE->" not in text.upper())
    false = [(corpus, text) for corpus, text in prose if any(find_snippets(text, "m"))]
    if arguments.show:
        for corpus, text in false:
            print("false ", corpus, repr(text[:200]))
    talk = [corpus for corpus, _ in prose if corpus in NO_CODE_HERE]
    summary = {
        "line_f1": round(2 * hits / (2 * hits + missed + extra), 4),
        "line_precision": round(hits / (hits + extra), 4),
        "line_recall": round(hits / (hits + missed), 4),
        "lines_of_code": hits + missed,
        "false_snippets": round(len(false) / len(prose), 4),
        "false_snippets_no_code_here": round(sum(corpus in NO_CODE_HERE for corpus, _ in false) / len(talk), 4),
        "prose_messages": len(prose),
    }
    if not arguments.json:
        for name, value in summary.items():
            print(f"{name:28}{value:>10}")
    print(json.dumps(summary))


if __name__ == "__main__":
    main()
