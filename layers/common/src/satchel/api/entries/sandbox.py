"""The tool that runs programs."""

from satchel.api.catalogue import Catalogue
from satchel.api.entry import Hints, ToolEntry
from satchel.api.wire.sandbox import RunPythonArguments, RunPythonResult

ENTRIES = Catalogue(
    tools=(
        ToolEntry(
            name="run_python",
            title="Run Python",
            description=(
                "Run a Python program in a sandbox: numpy, pandas, scipy, statsmodels, scikit-learn and matplotlib are "
                "there; network, processes and the user's files are not, and nothing is kept between calls. It is a "
                "32-bit Python: numpy's default integer is int32 and overflows silently, so load volumes and ids as "
                "int64 or float64. Open matplotlib figures come back as pictures."
            ),
            arguments=RunPythonArguments,
            result=RunPythonResult,
            scope="sandbox:run",
            function="run_python",
            hints=Hints(read_only=True, idempotent=True),
            timeout_s=27.0,
        ),
    ),
)
