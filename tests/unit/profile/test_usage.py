from satchel.profile.preferences import Preferences, preference_lines, profile_text, system_prompt_text
from satchel.profile.store import OwnMessage
from satchel.profile.usage import infer_habits


def said(*texts):
    return [OwnMessage("s", f"m{number}", text) for number, text in enumerate(texts, 1)]


def test_what_is_named_in_three_messages_is_a_habit_traced_to_them():
    habits = infer_habits(
        said("BTC/USDT on 4h, RSI?", "btc", "BTC/USDT BTC/USDT RSI", "rsi on BTC-USDT, 4h", "ETH/USDT")
    )
    assert [(habit.words, [(m.name, m.message_ids) for m in habit.mentions]) for habit in habits] == [
        ("Pairs often named", [("BTC/USDT", ("s/m1", "s/m3", "s/m4"))]),
        ("Indicators often named", [("RSI", ("s/m1", "s/m3", "s/m4"))]),
    ]


def test_korean_and_spelled_forms_count_as_the_same_thing():
    habits = infer_habits(said("4시간봉에서 볼린저 밴드", "Bollinger bands on the 4 hour", "4h bollinger"))
    assert [(habit.words, [m.name for m in habit.mentions]) for habit in habits] == [
        ("Timeframes often named", ["4h"]),
        ("Indicators often named", ["Bollinger Bands"]),
    ]


def test_words_that_only_contain_a_name_are_not_it():
    assert infer_habits(said(*["the version 1.2m of a universal-USD path/USDX, persist"] * 3)) == []


def test_the_profile_has_the_documents_lines_for_what_is_known_then_what_is_inferred():
    preferences = Preferences(
        values={
            "active_pairs": ["BTC/USDT", "ETH/USDT"],
            "trading_experience": "Intermediate",
            "time_zone": "Asia/Seoul",
        }
    )
    text = profile_text(preferences, infer_habits(said("RSI", "RSI", "RSI")))
    assert text == (
        "User Profile:\n"
        "- Trading experience: Intermediate\n"
        "- Active pairs: BTC/USDT, ETH/USDT\n"
        "- Indicators often named (inferred): RSI (3 messages, last s/m3)"
    )
    assert preference_lines(Preferences()) == []


def test_an_unknown_user_has_a_profile_that_says_so():
    assert profile_text(Preferences(), []) == "User Profile:\n- Nothing is known yet."


def test_the_custom_instructions_are_as_written_and_empty_where_there_are_none():
    assert system_prompt_text(Preferences(custom_prompt=" - 간결하게\n")) == "Custom Instructions:\n - 간결하게\n"
    assert system_prompt_text(Preferences()) == ""
