import json

import pytest

from satchel.cli import filter_file
from satchel.cli.main import main
from tests.support.filtering import slack_messages

TOKEN = "ghp_" + "T3stOnly" * 4 + "1234"


@pytest.fixture
def small_requests(monkeypatch):
    monkeypatch.setattr(filter_file, "REQUEST_BYTES", 100)


def test_a_large_array_is_filtered_as_it_is_read(tmp_path, capsys, small_requests):
    messages = slack_messages(3_000)
    for message in messages:
        message["text"] += f" {TOKEN}"
    file = tmp_path / "messages.json"
    file.write_text(json.dumps({"data": {"messages": messages}}))
    arguments = [
        "filter",
        str(file),
        "--question",
        "top 7 about security",
        "--tool",
        "slack",
        "--path",
        "data.messages",
    ]
    assert main([*arguments, "--json"]) == 0
    captured = capsys.readouterr()
    result = json.loads(captured.out)
    assert len(result["data"]) == 7
    assert all("security" in message["text"] for message in result["data"])
    assert "ghp_" not in captured.out
    metadata = result["metadata"]
    assert metadata["originalItemCount"] == 3_000
    assert sum(metadata["removedByReason"].values()) == 2_993
    assert result["handle"] is None


def test_lines_are_read_too_and_shown_for_people(tmp_path, capsys, small_requests):
    file = tmp_path / "messages.ndjson"
    file.write_text("\n".join(json.dumps(message) for message in slack_messages(200)))
    assert main(["filter", str(file), "--question", "security patch", "--limit", "3"]) == 0
    captured = capsys.readouterr()
    assert len(json.loads(captured.out)) == 3
    assert "kept 3 of 200" in captured.err


def test_a_file_that_is_not_json_or_not_there_is_told_in_a_sentence(tmp_path, capsys, small_requests):
    file = tmp_path / "broken.json"
    file.write_text("[1, 2, " + "x" * 200)
    assert main(["filter", str(file), "--question", "x"]) == 1
    assert "not a JSON array" in capsys.readouterr().err
    assert main(["filter", str(tmp_path / "missing"), "--question", "x"]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_a_small_file_goes_to_the_server_as_what_it_holds(tmp_path, capsys, monkeypatch):
    sent = []
    answer = {
        "data": "short",
        "reduction": 0.5,
        "metadata": {"filteredItemCount": 1, "originalItemCount": 2},
        "handle": "context://filtered/x",
    }

    def request(self, method, path, body=None):
        sent.append((method, path, body))
        return answer

    monkeypatch.setenv("SATCHEL_TOKEN", "t")
    monkeypatch.setattr(filter_file.ApiClient, "request", request)
    for text, value in (
        ('{"a": 1}', {"a": 1}),
        ('{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ("a\nb", "a\nb"),
        ('{"a": 1}\n{', '{"a": 1}\n{'),
    ):
        file = tmp_path / "file"
        file.write_text(text)
        assert main(["filter", str(file), "--question", "q", "--url", "http://127.0.0.1:1"]) == 0
        assert sent[-1][:2] == ("POST", "/v1/responses:filter")
        assert sent[-1][2]["response"] == value
    captured = capsys.readouterr()
    assert "context://filtered/x" in captured.err
    assert captured.out.startswith("short")


def test_progress_is_drawn_on_a_terminal(tmp_path, capsys, monkeypatch, small_requests):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    file = tmp_path / "messages.json"
    file.write_text(json.dumps(slack_messages(50)))
    assert main(["filter", str(file), "--question", "security", "--json"]) == 0
    assert "100% " in capsys.readouterr().err
