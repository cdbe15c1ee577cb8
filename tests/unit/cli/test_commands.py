import json
import os
import subprocess
import sys
from pathlib import Path

import jwt
import pytest

from satchel.cli.main import main
from satchel.local.identity import Identity
from satchel.local.project import Project


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize("command", ["serve", "token", "rotate-keys", "invoke", "save", "search", "status"])
def test_help_explains_each_command_with_its_defaults(capsys, command):
    with pytest.raises(SystemExit) as left:
        main([command, "--help"])
    text = " ".join(capsys.readouterr().out.split())
    assert left.value.code == 0
    assert "default: .satchel" in text


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["nonsense"],
        ["save"],
        ["serve", "--port", "many"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "-1"],
        ["serve", "--data", ""],
    ],
)
def test_wrong_usage_is_status_2(capsys, arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert "usage: satchel" in capsys.readouterr().err


def test_a_token_for_a_folder_that_nobody_serves_is_refused_with_a_sentence(capsys, tmp_path):
    status, out, err = run(capsys, "token", "--data", str(tmp_path / "none"))
    assert (status, out) == (1, "")
    assert "There is no data folder" in err


@pytest.mark.parametrize("name", ["file", "file/inside", "x" * 300])
def test_a_data_folder_that_cannot_be_one_is_a_sentence(capsys, tmp_path, name):
    (tmp_path / "file").write_text("")
    status, out, err = run(capsys, "serve", "--port", "0", "--data", str(tmp_path / name))
    assert (status, out) == (1, "")
    assert f"The data folder {tmp_path / name} cannot be used: " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("user", ["", "a\nb", "u" * 257])
def test_no_token_is_made_for_a_name_that_nobody_accepts(capsys, tmp_path, user):
    status, out, err = run(capsys, "token", "--data", str(tmp_path), "--user", user)
    assert (status, out) == (1, "")
    assert "A user is 1 to 256 characters" in err


def test_a_token_names_the_user_the_scopes_and_the_audience(capsys, tmp_path):
    arguments = ["--data", str(tmp_path), "--user", "밥", "--scope", "context:read", "--audience", "http://x/mcp"]
    status, out, _ = run(capsys, "token", *arguments, "--expires", "60")
    claims = jwt.decode(out.strip(), options={"verify_signature": False})
    assert status == 0
    assert (claims["sub"], claims["scope"], claims["aud"]) == ("밥", "context:read", "http://x/mcp")
    assert claims["exp"] - claims["iat"] == 60
    assert len(out.splitlines()) == 1


def test_a_rotated_key_signs_and_older_tokens_stay_good(capsys, tmp_path):
    older = run(capsys, "token", "--data", str(tmp_path))[1].strip()
    status, out, _ = run(capsys, "rotate-keys", "--data", str(tmp_path))
    newer = run(capsys, "token", "--data", str(tmp_path))[1].strip()
    keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(Identity(tmp_path, "http://x").jwks()).keys}
    used = [jwt.get_unverified_header(token)["kid"] for token in (older, newer)]
    assert status == 0
    assert used[1] in out
    assert used[0] != used[1]
    for key_id, token in zip(used, (older, newer), strict=True):
        assert jwt.decode(token, keys[key_id], algorithms=["ES256"], options={"verify_aud": False})["sub"] == "alice"


def test_a_reader_that_has_enough_is_no_error(tmp_path):
    command = [sys.executable, "-m", "satchel.cli.main", "token", "--data", str(tmp_path)]
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_keys_of_a_folder_that_nobody_serves_are_not_rotated(capsys, tmp_path):
    status, out, err = run(capsys, "rotate-keys", "--data", str(tmp_path / "none"))
    assert (status, out) == (1, "")
    assert "There is no data folder" in err
    assert not (tmp_path / "none").exists()


def test_a_server_that_does_not_answer_is_a_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SATCHEL_TOKEN", "t")
    status, _, err = run(capsys, "status", "--url", "http://127.0.0.1:1", "--data", str(tmp_path))
    assert status == 1
    assert "does not answer at http://127.0.0.1:1" in err


@pytest.mark.parametrize(
    "url",
    ["nonsense", "http://[::1", "ftp://x", "file:///etc/passwd", "http://127.0.0.1:99999", "http://", "http://a b"],
)
def test_a_url_that_is_no_servers_is_a_sentence(capsys, tmp_path, url):
    status, out, err = run(capsys, "save", "x", "--url", url, "--data", str(tmp_path))
    assert (status, out) == (1, "")
    assert f"{url} is no URL of a server" in err


def test_a_token_may_end_in_a_newline_and_one_that_is_none_is_a_sentence(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("SATCHEL_TOKEN", " abc.def\n")
    assert "does not answer" in run(capsys, "status", "--url", "http://127.0.0.1:9", "--data", str(tmp_path))[2]
    for token in ("a\nb", "é"):
        monkeypatch.setenv("SATCHEL_TOKEN", token)
        assert "SATCHEL_TOKEN holds no token" in run(capsys, "status", "--data", str(tmp_path))[2]


def test_an_event_that_is_absent_or_no_json_is_a_sentence(capsys, tmp_path: Path):
    status, _, err = run(capsys, "invoke", "save_message", "-e", str(tmp_path / "none.json"), "--data", str(tmp_path))
    assert status == 1
    assert "cannot be read" in err
    (tmp_path / "bad.json").write_text("{")
    status, _, err = run(capsys, "invoke", "save_message", "-e", str(tmp_path / "bad.json"), "--data", str(tmp_path))
    assert status == 1
    assert "is not JSON" in err


def test_an_unknown_function_is_answered_with_the_known_ones(capsys, tmp_path: Path):
    (tmp_path / "e.json").write_text(json.dumps({}))
    status, _, err = run(capsys, "invoke", "nobody", "-e", str(tmp_path / "e.json"), "--data", str(tmp_path))
    assert status == 1
    assert "SaveMessageFunction" in err


def test_the_fixtures_are_refused_outside_a_checkout(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("satchel.cli.serve.find", lambda: Project(tmp_path))
    status, _, err = run(capsys, "serve", "--with-test-fixtures", "--data", str(tmp_path))
    assert status == 1
    assert "part of a checkout only" in err
