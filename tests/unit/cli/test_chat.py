import io
import json
from http.server import BaseHTTPRequestHandler

import pytest

from satchel.cli.main import main
from tests.support.http_server import http_server


@pytest.fixture
def talk(monkeypatch, capsys, tmp_path):
    """Types lines into `satchel chat`; what a server without WebSockets was told, and what was printed."""
    received = []

    class Echo(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(404)

        def do_POST(self):
            said = json.loads(self.rfile.read(int(self.headers["content-length"])))
            received.append(said)
            body = json.dumps({"text": f"echo: {said['message']}", "context": {}}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Keeps quiet."""

    def typed(*lines):
        received.clear()
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        assert main(["chat", "--url", url, "--data", str(tmp_path)]) == 0
        printed = capsys.readouterr()
        return [said["message"] for said in received], printed.out, printed.err

    monkeypatch.setenv("SATCHEL_TOKEN", "t")
    with http_server(Echo) as url:
        yield typed


def test_help_prints_the_commands_and_says_nothing(talk):
    said, out, _ = talk("/help")
    assert said == []
    for command in ("/context", "/new", "/help", "Ctrl-D"):
        assert command in out


@pytest.mark.parametrize("line", ["/nwe", "/new extra", "/", "/도움"])
def test_a_command_that_there_is_not_is_refused_with_a_sentence(talk, line):
    said, out, err = talk(line, "안녕 🙂")
    assert said == ["안녕 🙂"]
    assert "echo: 안녕 🙂" in out
    assert f"satchel: There is no command {line}. " in err


def test_two_slashes_say_one(talk):
    said, out, err = talk("//etc/hosts 는 뭐야?", "//")
    assert said == ["/etc/hosts 는 뭐야?", "/"]
    assert "echo: /etc/hosts" in out
    assert "no command" not in err
