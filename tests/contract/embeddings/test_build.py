import json

import pytest

from satchel.embeddings import build


def test_the_same_source_gives_the_same_bytes(e5_folder, tmp_path):
    build.build(build.find_source(), tmp_path / "again")
    first, second = ((folder / "manifest.json").read_text() for folder in (e5_folder, tmp_path / "again"))
    assert first == second
    assert json.loads(first)["files"].keys() == {"body.onnx", "tokenizer.json", "vocabulary.q4"}


def test_a_complete_folder_is_left_alone_and_a_damaged_one_is_not_complete(e5_folder, tmp_path):
    assert build.is_complete(e5_folder)
    assert not build.is_complete(tmp_path)
    for name in ("manifest.json", "body.onnx", "vocabulary.q4"):
        (tmp_path / name).symlink_to(e5_folder / name)
    assert not build.is_complete(tmp_path)
    (tmp_path / "tokenizer.json").write_bytes(b"{}")
    assert not build.is_complete(tmp_path)


def test_another_source_is_refused(tmp_path):
    other = tmp_path / "e5-small-q4.bin"
    other.write_bytes(b"another model")
    with pytest.raises(ValueError, match="another revision"):
        build.build(other, tmp_path / "out")
