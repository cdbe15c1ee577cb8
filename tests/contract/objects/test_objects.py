"""One suite over both places."""

from datetime import UTC, datetime, timedelta
from io import BytesIO
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from satchel.errors import NotFoundError, UnavailableError
from satchel.objects.files import FileObjects
from satchel.objects.port import LIFETIME, LINK_S, object_key
from satchel.objects.s3 import S3Objects
from tests.support.objects import Clock

KEY = object_key("alice", "blocks", "job-1", "input.ndjson")
TEXT = "안녕하세요 🚀\n".encode() * 100_000


def test_what_is_sent_through_a_link_is_read_in_pieces_and_given_back_through_another(place):
    assert place.put(place.objects.upload_link(KEY), TEXT) == 200
    assert place.objects.size(KEY) == len(TEXT)
    with place.objects.open(KEY) as content:
        assert b"".join(iter(lambda: content.read(65_536), b"")) == TEXT
    assert place.get(place.objects.download_link(KEY)) == (200, TEXT)


def test_an_object_is_read_line_by_line(place):
    place.objects.write(KEY, BytesIO(TEXT))
    with place.objects.open(KEY) as content:
        assert sum(1 for _ in content) == 100_000


def test_writing_again_replaces(place):
    place.objects.write(KEY, BytesIO(b"first"))
    place.objects.write(KEY, BytesIO(b"second"))
    assert place.get(place.objects.download_link(KEY)) == (200, b"second")


def test_what_was_created_is_not_created_again(place):
    assert place.objects.create(KEY, b"first") is True
    assert place.objects.create(KEY, b"second") is False
    with place.objects.open(KEY) as content:
        assert content.read() == b"first"


def test_what_is_not_there_has_no_size_and_is_not_found(place):
    assert place.objects.size(KEY) is None
    with pytest.raises(NotFoundError), place.objects.open(KEY):
        pass
    assert place.get(place.objects.download_link(KEY))[0] == 404


def test_a_bucket_that_does_not_answer_is_unavailable(monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(UnavailableError):
        S3Objects("kept-aside").create(KEY, b"x")


@pytest.mark.parametrize("link", ["upload_link", "download_link"])
def test_a_bucket_s_link_is_of_its_region_and_ends(monkeypatch, link):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    parts = urlsplit(getattr(S3Objects("kept-aside"), link)(KEY))
    assert (parts.scheme, parts.path) == ("https", f"/{KEY}")
    assert parts.netloc.startswith("kept-aside.s3.")
    assert "eu-central-1" in parts.netloc
    assert parse_qs(parts.query)["X-Amz-Expires"] == [str(LINK_S)]


def test_a_folder_s_link_serves_its_own_direction_object_and_hour_alone(folder, clock):
    objects, place = folder
    objects.write(KEY, BytesIO(b"mine"))
    link = objects.download_link(KEY)
    assert place.put(link, b"other") == 403
    assert place.get(objects.upload_link(KEY))[0] == 403
    parts = urlsplit(link)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    for name, value in (
        ("key", object_key("bob", "blocks", "job-1", "input.ndjson")),
        ("key", "../../objects.key"),
        ("expires", "9999999999"),
        ("signature", "é"),
        ("signature", ""),
    ):
        assert place.get(parts._replace(query=urlencode({**query, name: value})).geturl())[0] == 403
    clock.now += timedelta(seconds=LINK_S + 1)
    assert place.get(link)[0] == 403


def test_a_folder_forgets_what_has_outlived_its_time_and_nothing_else(tmp_path):
    now = Clock(datetime.now(UTC))
    objects = FileObjects(tmp_path, url="http://x", secret="s", clock=now)
    objects.write(KEY, BytesIO(b"x"))
    objects.forget_old()
    assert objects.size(KEY) == 1
    now.now += LIFETIME + timedelta(minutes=1)
    objects.forget_old()
    assert objects.size(KEY) is None


def test_a_failed_write_leaves_nothing_behind(tmp_path):
    class Broken(BytesIO):
        def read(self, *_arguments: int) -> bytes:
            raise OSError("the disk is gone")

    objects = FileObjects(tmp_path, url="http://x", secret="s", clock=Clock())
    with pytest.raises(OSError, match="the disk is gone"):
        objects.write(KEY, Broken())
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


@pytest.mark.parametrize("part", ["", ".", "..", "a/b", "../x", "a\\b", "a\n", "x" * 200, ".hidden", "작업", "a.b.c"])
def test_no_name_leads_out_of_a_user_s_own_place(part):
    with pytest.raises(NotFoundError):
        object_key("alice", "blocks", part)


def test_users_share_no_place_whatever_they_are_called():
    users = ["alice", "bob", "../alice", "alice/blocks", "ALICE", "앨리스"]
    assert len({object_key(user, "blocks", "j") for user in users}) == len(users)
