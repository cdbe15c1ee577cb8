import pytest

from satchel.blocks import text
from satchel.blocks.scoring import Scored
from satchel.blocks.sessions import Message, Tags
from satchel.blocks.summarise import fill, merge, summarise


def block(*lines):
    return [
        Scored(Message(f"m{i}", role, content, None, speaker), 0.5, None, text.read(content))
        for i, (role, speaker, content) in enumerate(lines)
    ]


def chat(*lines):
    return block(*(("user" if i % 2 == 0 else "assistant", "", line) for i, line in enumerate(lines)))


def test_an_english_problem_with_trial_solution_and_insight():
    tags = summarise(
        block(
            ("user", "ann", "I'm using Node 8 on Ubuntu. Why does npm install fail with EACCES?"),
            ("user", "bob", "did you install it with sudo?"),
            ("user", "ann", "I tried sudo npm install, still the same error"),
            ("user", "bob", "you should use nvm and never sudo, run nvm install 8"),
            ("user", "ann", "that worked, thanks!"),
            ("user", "bob", "turns out the apt package owns /usr/local"),
        )
    )
    assert tags.CONTEXT == "I'm using Node 8 on Ubuntu."
    assert tags.PROBLEM == "Why does npm install fail with EACCES?"
    assert tags.TRIAL == ("I tried sudo npm install, still the same error",)
    assert tags.SOLUTION == "you should use nvm and never sudo, run nvm install 8"
    assert tags.INSIGHT == "turns out the apt package owns /usr/local"


def test_a_korean_problem_with_trial_solution_and_insight():
    tags = summarise(
        chat(
            "도커 빌드할 때 npm install에서 계속 멈춰. 왜 이래?",
            "사내 프록시를 쓰고 있나요? 빌드 인자로 HTTP_PROXY를 넘겨야 합니다.",
            "해봤는데 똑같아",
            "원인은 .npmrc 입니다. .npmrc에도 proxy를 추가하세요.",
            "오 됐다 ㅋㅋ 감사합니다",
        )
    )
    assert tags.PROBLEM == "도커 빌드할 때 npm install에서 계속 멈춰. 왜 이래?"
    assert tags.TRIAL == ("해봤는데 똑같아",)
    assert tags.SOLUTION == "원인은 .npmrc 입니다. .npmrc에도 proxy를 추가하세요."
    assert tags.INSIGHT == "원인은 .npmrc 입니다."


def test_acknowledgements_alone_are_about_nothing():
    assert summarise(chat("hi", "hello!", "thanks 👍", "ㅇㅋ")) == Tags()


def test_thanks_in_advance_solve_nothing():
    tags = summarise(chat("how do I mount a disk? thanks in advance", "which disk do you mean by that?"))
    assert tags.PROBLEM == "how do I mount a disk?"
    assert tags.SOLUTION == ""


def test_without_success_no_solution_is_guessed():
    tags = summarise(chat("why is my build slow?", "you should try caching the layers"))
    assert tags.SOLUTION == ""


def test_it_still_does_not_work_is_no_success():
    tags = summarise(chat("my screen is black, what now?", "you can boot with nomodeset", "it's still not working"))
    assert tags.SOLUTION == ""
    assert tags.TRIAL == ("it's still not working",)


def test_long_sentences_are_cut_on_a_whole_character():
    tags = summarise(chat("왜 이런 오류가 나나요 " + "😀가" * 400 + "?"))
    assert len(tags.PROBLEM) == 300
    assert tags.PROBLEM.endswith("…")


def test_a_grown_block_keeps_what_was_known_of_its_beginning():
    given = Tags("ctx", "old problem", ("a",), "", "old")
    found = Tags("", "new question", ("b", "a"), "fix", "")
    assert merge(given, found, whole=False) == Tags("ctx", "old problem", ("a", "b"), "fix", "old")
    assert merge(given, found, whole=True) == found
    assert merge(None, found, whole=False) == found


def test_what_a_model_left_out_is_filled_by_the_rules():
    assert fill(Tags(PROBLEM="p"), Tags("c", "q", ("t",), "s", "i")) == Tags("c", "p", ("t",), "s", "i")


def test_a_short_question_leans_on_the_sentence_before_it():
    tags = summarise(chat("Hi all. I can't install node 20 on Ubuntu. Any suggestions?", "which error do you get?"))
    assert tags.PROBLEM == "I can't install node 20 on Ubuntu. Any suggestions?"


def test_thanks_anyway_and_apologies_solve_nothing():
    asked = "Is there a way to install the fs module on its own?"
    assert summarise(chat(asked, "It is built in and always there", "sure, thanks anyway :)")).SOLUTION == ""
    assert summarise(chat(asked, "Yeah, sorry. Should've mentioned that before.", "Alright. Thanks")).SOLUTION == ""


def test_whoever_thanks_gave_no_advice():
    tags = summarise(
        block(
            ("user", "ann", "how do I get messages from a forked process?"),
            ("user", "bob", "you should use process.send in the child"),
            ("user", "cat", "Thanks bob, I don't have time to look into the module"),
            ("user", "ann", "it's working, thanks!"),
        )
    )
    assert tags.SOLUTION == "you should use process.send in the child"


@pytest.mark.parametrize(
    "lesson",
    [
        "Lesson: never call the network in unit tests.",
        "TIL: a branch is only a pointer.",
        "Lesson learned - read the log first.",
        "credentials랑 와일드카드 금지, 기억해야겠네요",
        "배운 점: 포인터는 주소다 🙂",
        "오늘의 교훈은 백업을 먼저 하는 것",
    ],
)
def test_a_stated_lesson_is_the_insight(lesson):
    for told in (chat(lesson), chat("why did the deploy fail?", "the host was not there", lesson)):
        tags = summarise(told)
        assert lesson == tags.INSIGHT


@pytest.mark.parametrize(
    "other", ["I'm taking a French lesson tomorrow", "let's wait til that build ends", "교훈이 뭘까?"]
)
def test_a_lesson_only_mentioned_or_asked_for_is_no_insight(other):
    assert summarise(chat("how is it going?", "fine", other)).INSIGHT == ""


@pytest.mark.parametrize(
    "trouble",
    [
        "Docker 빌드가 계속 실패해 😩 'no space left on device'",
        "프론트에서 CORS 에러가 나요 (fetch)",
        "로그인이 안 돼요",
        "서버가 자꾸 죽어요 OOM",
    ],
)
def test_korean_trouble_is_the_problem_in_whatever_form_its_verb_has(trouble):
    tags = summarise(chat(trouble, "로그를 보여 주세요."))
    assert trouble == tags.PROBLEM
    assert tags.CONTEXT == ""


def test_what_others_say_works_is_no_success():
    for advice in ("Or check whether it works with a new key.", "that worked for me", "캐시를 지우면 해결돼요."):
        assert summarise(chat("why does it crash?", "Try a reboot.", "ok wait", advice)).SOLUTION == ""


def test_what_did_not_get_better_in_korean_is_no_success():
    trouble = "Docker 빌드가 계속 실패해 😩 'no space left on device'"
    for answer in ("해봤는데 용량이 안 줄었어", "1GB밖에 안 줄었네요", "아직 해결이 안 됐어요"):
        assert summarise(chat(trouble, "docker system prune 을 실행해 보세요", answer)).SOLUTION == ""
    tags = summarise(chat(trouble, "docker system prune 을 실행해 보세요", "오 용량이 확 줄었어요! 감사합니다 🙏"))
    assert tags.SOLUTION == "docker system prune 을 실행해 보세요"


def test_where_an_assistant_speaks_first_the_problem_is_still_the_users():
    tags = summarise(
        block(
            ("assistant", "", "Which error do you get?"),
            ("user", "", "ENOSPC, how do I get space?"),
            ("assistant", "", "you should run docker system prune"),
            ("user", "", "that worked, thanks!"),
        )
    )
    assert tags.PROBLEM == "ENOSPC, how do I get space?"
    assert tags.SOLUTION == "you should run docker system prune"
