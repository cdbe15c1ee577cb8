from pathlib import Path

import pytest

from satchel.embeddings import build

# Where `make setup` puts the model; made here when it is not there yet.
MODELS = Path(__file__).parents[3] / "layers" / "embeddings" / "build" / "models"


@pytest.fixture(scope="session")
def e5_folder() -> Path:
    assert build.main([str(MODELS)]) == 0
    return MODELS / build.NAME
