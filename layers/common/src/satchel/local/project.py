"""Where the checkout is: the template, the functions and what was built beside them."""

from dataclasses import dataclass
from pathlib import Path

import satchel


class ProjectError(Exception):
    """Something that only a checkout has is not there; the message names it."""


@dataclass(frozen=True)
class Project:
    """A checkout of Satchel."""

    root: Path

    @property
    def template(self) -> Path:
        """The SAM template."""
        return self.root / "template.yaml"

    @property
    def models(self) -> Path:
        """The encoder's files, made by `make setup`."""
        return self.root / "layers/embeddings/build/models"

    def fixtures(self) -> Path:
        """The tools, resources and prompts that the official conformance suite asks for.

        Raises:
            ProjectError: This is not a checkout with its tests.
        """
        folder = self.root / "tests/fixtures/conformance"
        if not folder.is_dir():
            raise ProjectError(f"The test fixtures are part of a checkout only: {folder} does not exist.")
        return folder


def find() -> Project:
    """The checkout this package was installed from, or else the one around the current folder.

    Raises:
        ProjectError: There is none.
    """
    here = Path(satchel.__file__).resolve()
    for folder in (*here.parents, *(Path.cwd() / "x").parents):
        if (folder / "template.yaml").is_file() and (folder / "functions").is_dir():
            return Project(folder)
    raise ProjectError("Satchel serves from a checkout: there is no template.yaml in this folder or above.")
