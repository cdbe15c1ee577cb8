import pytest

from satchel.blocks.snippets import find_snippets


def found(text):
    return [(snippet.language, snippet.content) for snippet in find_snippets(text, "m1")]


def test_a_fence_with_a_language_gives_its_body_verbatim():
    assert found("see\n```py\nif x:\n\n    y = 1\n```\nok?") == [("python", "if x:\n\n    y = 1")]


def test_a_fence_may_start_in_the_middle_of_a_line():
    assert found("like this ```const a = 1;\nfoo(a);\n``` right?") == [
        ("javascript", "const a = 1;\nfoo(a);\n".rstrip("\n"))
    ]


def test_a_fence_on_one_line_is_a_snippet():
    assert found("try ```npm install left-pad``` first") == [("bash", "npm install left-pad")]


def test_an_odd_fence_runs_to_the_end():
    assert found("```sql\nSELECT 1 FROM t") == [("sql", "SELECT 1 FROM t")]


def test_a_longer_fence_holds_a_shorter_one():
    assert found("````md\n```js\nx\n```\n````") == [("markdown", "```js\nx\n```")]


def test_an_unknown_language_name_is_not_code():
    assert found("```brainfun\n+++.\n```") == [("text", "+++.")]


def test_the_korean_wave_is_no_fence():
    assert found("안녕하세요~~~ 잘 부탁드려요~~~") == []


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("for me:\ndef f(x):\n    return x * 2\n\nprint(f(2))", "python"),
        ("const a = await fetch(url);\nconsole.log(a);", "javascript"),
        ("sudo apt-get install nodejs", "bash"),
        ("$ docker ps -a", "bash"),
        ("SELECT id FROM users WHERE name = 'x';", "sql"),
        ('{\n  "name": "x",\n  "version": "1.0.0"\n}', "json"),
        ("#include <vector>\nint main() {\n  return 0;\n}", "cpp"),
        ("services:\n  web:\n    image: nginx:1\n    ports:\n      - 80:80", "yaml"),
        ("DB_HOST=localhost\nDB_PORT=5432", "ini"),
        ("public class A {\n  private int x;\n}", "java"),
    ],
)
def test_unfenced_code_is_found_whole_with_its_language(text, language):
    snippets = found(text)
    assert len(snippets) == 1
    assert snippets[0][0] == language
    assert snippets[0][1] in text


@pytest.mark.parametrize(
    "text",
    [
        "I think you should run the installer again, it makes the config for you.",
        "what is the difference between import and require in node?",
        "도커 빌드할 때 npm install에서 계속 멈춰. 로그는 아래처럼 나와",
        "git is hard :) but I love it; really!",
        "class today was fun, return tomorrow?",
        "Note: this is fine. See https://example.org/a/b?c=d",
        "user01: use that one -> it works (mostly)",
        "ㅋㅋㅋ 감사합니다!",
        "",
    ],
)
def test_prose_is_no_code(text):
    assert found(text) == []


def test_a_command_in_backticks_is_found_and_a_name_is_not():
    assert found("해결: `docker build --build-arg HTTP_PROXY=http://proxy:8080 .` 로 하세요. `x` 말고") == [
        ("bash", "docker build --build-arg HTTP_PROXY=http://proxy:8080 .")
    ]


@pytest.mark.parametrize("piece", ["a ", "(", "{ ", "<a ", "x=", "`", "``` ", "- a: ", "' ", "export type A<", "if (("])
def test_no_line_takes_more_than_linear_time(piece):
    list(find_snippets(piece * 40_000, "m1"))
