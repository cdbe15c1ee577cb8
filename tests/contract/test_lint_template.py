"""The lint of the transformed template finds what `sam validate --lint` lets pass."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("Default: python3.13", "Default: python9.9", "python3.13"),
        ("TenantIsolationMode: PER_TENANT", "TenantIsolationMode: PER_USER", "PER_TENANT"),
        ("ApiId: !Ref HttpApi,", "ApiId: !Ref NoSuchApi,", "ApiId must be a valid reference"),
    ],
)
def test_nonsense_is_found(tmp_path, right, wrong, said):
    template = Path("template.yaml").read_text(encoding="utf-8")
    assert right in template
    broken = tmp_path / "template.yaml"
    broken.write_text(template.replace(right, wrong), encoding="utf-8")
    ended = subprocess.run(
        [sys.executable, "tools/lint_template.py", str(broken)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1
    assert said in ended.stdout
