import pytest

from satchel.filtering import words


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("vulnerabilities", "vulner"),
        ("running", "run"),
        ("api", "api"),
        ("끝말잇기를", "끝말잇기"),
        ("학교에서", "학교"),
        ("naïve", "naïve"),
    ],
)
def test_words_are_stemmed_by_their_script(word: str, stem: str) -> None:
    assert words.stem(word) == stem


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getFileStatus", ["get", "file", "status"]),
        ("HTTPServer", ["http", "server"]),
        ("log4j", ["log", "4", "j"]),
        ("plain", ["plain"]),
    ],
)
def test_identifiers_fall_into_the_parts_people_read(identifier: str, parts: list[str]) -> None:
    assert words.parts(identifier) == parts


def test_accents_and_full_width_forms_are_folded() -> None:
    assert words.normalise("Été à Nîmes ＡＰＩ") == "Ete a Nimes API"
    assert words.normalise("한국어 가을") == "한국어 가을"


def test_what_is_not_ascii_is_blotted_out_one_for_one() -> None:
    assert words.to_ascii("naïve\xa0“quote” 部署") == "naive ?quote? ??"


def test_scripts_without_spaces_are_cut_into_pairs() -> None:
    assert words.unspaced_pairs("部署方案") == ["部署", "署方", "方案"]
    assert words.unspaced_pairs("部") == ["部"]
    assert words.unspaced_pairs("deploy") == []
