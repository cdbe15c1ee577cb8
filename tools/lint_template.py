"""Lints what CloudFormation will really get: the template after SAM's transform.

`sam validate --lint` reads the template before the transform and lets nonsense such as `python9.9` pass. Here the
transform runs offline, with the code that runs in the cloud, and cfn-lint checks its result.

    python tools/lint_template.py [template.yaml]
"""

import sys
from pathlib import Path
from typing import Any

from cfnlint.api import lint
from cfnlint.match import Match
from samcli.commands.validate.lib.exceptions import InvalidSamDocumentException
from samcli.lib.translate.sam_template_validator import SamTemplateValidator
from samcli.yamlhelper import yaml_parse

REGION = "eu-central-1"


class NoManagedPolicies:
    """Stands in for the loader that asks IAM for its policies; the template names none by a short name."""

    def load(self) -> dict[str, str]:
        """An empty map of policy names to ARNs."""
        return {}


def transformed(text: str) -> str:
    """Text of the template after SAM's transform, with parameters that have a default replaced by it.

    Raises:
        InvalidSamDocumentException: The transform refuses the template; it names the resource.
    """
    template: dict[str, Any] = yaml_parse(text)
    defaults = {name: p["Default"] for name, p in template["Parameters"].items() if "Default" in p}
    validator = SamTemplateValidator(template, NoManagedPolicies(), region=REGION, parameter_overrides=defaults)
    return validator.get_translated_template_if_valid()


def _is_nesting_of_sam(finding: Match) -> bool:
    """Whether it is about routes of a function with a condition: the transform asks for it again inside itself."""
    return finding.rule.id == "W1028" and list(finding.path or ())[:4] == ["Resources", "HttpApi", "Properties", "Body"]


def main(arguments: list[str]) -> int:
    """Prints one line per finding; 1 when there is any."""
    path = Path(arguments[0] if arguments else "template.yaml")
    try:
        text = transformed(path.read_text(encoding="utf-8"))
    except InvalidSamDocumentException as error:
        print(f"{path}: {error}")
        return 1
    findings = [finding for finding in lint(text, regions=[REGION]) if not _is_nesting_of_sam(finding)]
    # What is wrong in Globals or a parameter is found in every function: say each thing once.
    for line in sorted({f"{path} (transformed): {finding.rule.id} {finding.message}" for finding in findings}):
        print(line)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
