"""The environment variables a function finds, as in Lambda.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from satchel.local.cloudformation import REGION
from satchel.local.processes import OWNER_VARIABLE
from satchel.local.queues import API_PATH
from satchel.local.socket_connections import STAGE
from satchel.local.template import Function

# What a process needs from the machine it runs on; the rest of a developer's environment stays out.
_FROM_MACHINE = (
    "PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE",
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS",
)  # fmt: skip


@dataclass(frozen=True)
class LocalEnvironment:
    """What every function of a local stack shares.

    Attributes:
        invoke_url: Where the local Lambda API is.
        access_key: The key id callers of it sign with.
        owner: The data folder, for finding processes that were left behind.
        overrides: Variables that replace those of the template.
        removed: Variables of the template that have no meaning here.
        machine: The environment of the machine.
    """

    invoke_url: str
    access_key: str
    owner: Path
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    removed: frozenset[str] = frozenset()
    machine: Mapping[str, str] = field(default_factory=dict[str, str])

    def of(self, function: Function) -> dict[str, str]:
        """All variables of one function."""
        declared = {name: value for name, value in function.environment.items() if name not in self.removed}
        import_folders = [str(folder) for layer in function.layers for folder in _import_folders(layer)]
        return {
            **{name: self.machine[name] for name in _FROM_MACHINE if name in self.machine},
            **declared,
            **self.overrides,
            "PYTHONPATH": os.pathsep.join(import_folders),
            "PYTHONUNBUFFERED": "1",
            "LANG": "en_US.UTF-8",
            "TZ": ":UTC",
            "LAMBDA_TASK_ROOT": str(function.code),
            "_HANDLER": function.handler,
            "AWS_LAMBDA_FUNCTION_NAME": function.name,
            "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory_mb),
            "AWS_LAMBDA_INITIALIZATION_TYPE": "on-demand",
            "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{function.name}",
            "AWS_LAMBDA_LOG_STREAM_NAME": "local",
            "AWS_LAMBDA_LOG_FORMAT": function.log_format,
            "AWS_EXECUTION_ENV": f"AWS_Lambda_{function.runtime}",
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_ENDPOINT_URL_LAMBDA": self.invoke_url,
            "AWS_ENDPOINT_URL_SQS": f"{self.invoke_url}/{API_PATH}",
            "AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI": f"{self.invoke_url}/{STAGE}",
            OWNER_VARIABLE: str(self.owner),
        }


def _import_folders(layer: Path) -> list[Path]:
    """Where a layer's packages are before it is built (`src`) and after (`python`)."""
    return [folder for folder in (layer / "src", layer / "python") if folder.is_dir()]
