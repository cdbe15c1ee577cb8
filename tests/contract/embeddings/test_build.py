import json

import pytest

from satchel.embeddings import build


@pytest.fixture(params=[build.E5_SMALL, build.MINILM], ids=lambda recipe: recipe.name)
def recipe(request) -> build.Recipe:
    return request.param


@pytest.fixture
def folder(request, recipe):
    return request.getfixturevalue("e5_folder" if recipe is build.E5_SMALL else "minilm_folder")


def test_the_same_source_gives_the_same_bytes(recipe, folder, tmp_path):
    build.build(recipe, recipe.find_source(), tmp_path / "again")
    first, second = ((made / "manifest.json").read_text() for made in (folder, tmp_path / "again"))
    assert first == second
    assert json.loads(first)["files"].keys() == {"body.onnx", "tokenizer.json", recipe.vocabulary}


def test_a_complete_folder_is_left_alone_and_a_damaged_one_is_not_complete(recipe, folder, tmp_path):
    assert build.is_complete(recipe, folder)
    assert not build.is_complete(recipe, tmp_path)
    for name in ("manifest.json", "body.onnx", recipe.vocabulary):
        (tmp_path / name).symlink_to(folder / name)
    assert not build.is_complete(recipe, tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    assert not build.is_complete(recipe, tmp_path)


def test_another_source_is_refused(recipe, tmp_path):
    other = tmp_path / recipe.source
    other.write_bytes(b"another model")
    with pytest.raises(ValueError, match="another revision"):
        build.build(recipe, other, tmp_path / "out")


def test_one_model_is_not_taken_for_another(e5_folder):
    assert not build.is_complete(build.MINILM, e5_folder)
