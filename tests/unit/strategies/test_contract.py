import json

import pytest

from satchel.errors import InvalidInputError, TooLargeError
from satchel.strategies.contract import read_strategy_code

CROSS = '''"""Crosses of two averages.

{"description": "이동평균 교차 😀", "timeframe": "1h", "symbols": ["BTC/USDT"], "params": {"fast": 10}}
"""
from backtesting import Strategy


class Cross(Strategy):
    fast = 10
    slow: int = 30
    rate = 0.5
    _inner = 1
    table = [1, 2]

    def init(self):
        self.line = self.data.Close

    def next(self):
        self.buy()
'''


def refused(code):
    with pytest.raises(InvalidInputError) as caught:
        read_strategy_code(code)
    assert caught.value.field == "code"
    return caught.value.message


def body(line):
    return CROSS.replace("self.line = self.data.Close", line)


def test_the_header_and_the_class_are_read():
    metadata = read_strategy_code(CROSS)
    assert metadata.class_name == "Cross"
    assert metadata.description == "이동평균 교차 😀"
    assert (metadata.timeframe, metadata.symbols) == ("1h", ("BTC/USDT",))
    assert metadata.params == {"fast": 10, "slow": 30, "rate": 0.5}


def test_without_a_header_the_docstring_describes_and_the_class_has_the_params():
    metadata = read_strategy_code(
        CROSS.replace('{"description"', 'no { "description"').replace("{ ", "").split('"""')[2]
    )
    assert metadata.description == ""
    assert metadata.params == {"fast": 10, "slow": 30, "rate": 0.5}


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ('{"fast": 5}', "line 9: fast is not 5 here, as the docstring's header says"),
        ('{"fast": 10, "slow": 40}', "line 10: slow is not 40 here"),
        ('{"table": [1, 3]}', "line 13: table is not [1, 3] here"),
        ('{"quick": 10}', "line 3: the header names the parameter 'quick', and Cross has no attribute of this name"),
        ('{"_Strategy": 1}', "line 3: the header names the parameter '_Strategy'"),
    ],
)
def test_a_header_that_does_not_say_what_runs_is_refused_with_the_line(header, told):
    assert refused(CROSS.replace('{"fast": 10}', header)).startswith(told)


def test_the_line_of_a_header_counts_what_stands_above_the_docstring():
    assert refused("# mine\n" + CROSS.replace('{"fast": 10}', '{"quick": 10}')).startswith("line 4: the header names")


@pytest.mark.parametrize(
    ("written", "header"),
    [
        ("fast = 2 * 5", '{"fast": 99}'),
        ("fast = 10\n    fast = fast * 2", '{"fast": 20}'),
        ("fast, quick = 10, 7", '{"quick": 7}'),
        ("if True:\n        fast = 11", '{"fast": 11}'),
        ("table_of = (1, 2)", '{"table_of": [1, 2]}'),
    ],
)
def test_an_attribute_that_is_computed_is_let_through(written, header):
    code = CROSS.replace('{"fast": 10}', header).replace("fast = 10", written)
    params = read_strategy_code(code).params
    assert params == {"slow": 30, "rate": 0.5} | json.loads(header)


def test_an_attribute_without_a_value_is_none():
    assert "no attribute" in refused(CROSS.replace('{"fast": 10}', '{"n": 1}').replace("rate = 0.5", "n: int"))


def test_an_attribute_may_come_from_a_base_or_from_outside():
    base = "\nclass Base(Strategy):\n    fast = 10\n    n = 3\n\n"
    code = CROSS.replace("import Strategy\n", "import Strategy\n" + base).replace("Cross(Strategy)", "Cross(Base)")
    assert read_strategy_code(code.replace('{"fast": 10}', '{"n": 3}')).params["n"] == 3
    assert refused(code.replace('{"fast": 10}', '{"n": 4}')).startswith("line 9: n is not 4 here")
    foreign = CROSS.replace('{"fast": 10}', '{"n": 4}').replace("Cross(Strategy)", "Cross(Strategy, Mixin)")
    assert read_strategy_code(foreign).params["n"] == 4
    later = CROSS.replace('{"fast": 10}', '{"fast": 11}') + "\n\nCross.fast = 11\n"
    assert read_strategy_code(later).params["fast"] == 11


def test_reading_never_runs_the_code():
    read_strategy_code("raise SystemExit\n" + CROSS.split('"""')[2])


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("def f(:", "line 1: this is no Python"),
        ("x = 1", "line 1: there is no class derived from Strategy"),
        (CROSS.replace("def next", "def later"), "line 8: Cross has no method next(self)"),
        (
            CROSS + "\n\nclass Second(Strategy):\n    def init(self): ...\n    def next(self): ...\n",
            "line 22: there is a",
        ),
        (CROSS.replace('"timeframe": "1h"', '"timeframe": 1'), "line 3: the header's timeframe"),
        (CROSS.replace('"timeframe"', '"frame"'), "line 3: the header knows"),
        (CROSS.replace('["BTC/USDT"]', "[1]"), "line 3: the header's symbols"),
        (CROSS.replace('"1h",', '"1h"'), "line 3: the docstring's header is no JSON"),
        ("x = '\0'", "line 1: this is no Python"),
    ],
)
def test_what_breaks_the_contract_is_told_with_its_line(code, told):
    assert refused(code).startswith(told)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("self.line = self.data.Close.s.shift(-1)", "shift by a negative number"),
        ("self.line = self.data.Close.s.shift(periods=-3)", "shift by a negative number"),
        ("self.line = self.data.df.diff(-1)", "diff by a negative number"),
        ("self.line = np.roll(self.data.Close, -1)", "roll by a negative number"),
        ("self.line = self.data.Close.s.rolling(5, center=True).mean()", "a centred window"),
        ("self.line = self.data.Close.s.bfill()", "bfill fills with later bars"),
        ("self.line = self.data._Data__arrays", "reaches past what a strategy may see"),
    ],
)
def test_what_reads_later_bars_is_refused_with_its_line_and_the_reason(line, reason):
    told = refused(body(line))
    assert told.startswith("line 16: look-ahead: ")
    assert reason in told


@pytest.mark.parametrize("line", ["self.line = self.data.Close.s.shift(1)", "self.line = x.rolling(5).mean()"])
def test_what_reads_earlier_bars_is_fine(line):
    assert read_strategy_code(body(line)).class_name == "Cross"


def test_a_base_class_of_ones_own_may_bring_the_methods():
    code = "from backtesting import Strategy\nclass Base(Strategy):\n    def init(self): ...\n    def next(self): ...\n"
    assert read_strategy_code(code + "class Mine(Base):\n    n = 3\n").class_name == "Mine"


def test_a_base_of_the_library_may_bring_them_too():
    code = "from backtesting.lib import SignalStrategy\nclass Mine(SignalStrategy):\n    def init(self): ...\n"
    assert read_strategy_code(code).class_name == "Mine"


def test_code_has_a_size():
    with pytest.raises(TooLargeError):
        read_strategy_code(CROSS + "#" * 100_000)


@pytest.mark.parametrize(
    "header",
    [
        '{"params": {"a": NaN}}',
        '{"params": {"a": 1e400}}',
        '{"params": {"a": "\\\\u0000"}}',
        '{"params": {"\\\\ud800": 1}}',
        '{"description": "\\\\ud800"}',
        '{"symbols": ["\\\\u0000"]}',
        '{"params": {"a": 1}, "params": {"b": 2}}',
        '{"params": {"a": ' + "[" * 50 + "]" * 50 + "}}",
        '{"params": {"a": ' + "[" * 20_000 + "]" * 20_000 + "}}",
        '{"params": {"a": ' + "9" * 400 + "}}",
    ],
)
def test_a_header_that_cannot_be_stored_as_it_is_written_is_refused_by_line(header):
    assert refused(f'"""\n{header}\n"""\n' + CROSS.split('"""')[2]).startswith("line 2: ")


@pytest.mark.parametrize("literal", ["1e400", "-1e400", '"\\0"', '"\\ud800"', "0x" + "F" * 20_000])
def test_a_constant_that_cannot_be_stored_is_refused_by_line(literal):
    assert "slow is a value that cannot be stored" in refused(CROSS.replace("slow: int = 30", f"slow = {literal}"))


@pytest.mark.parametrize("literal", ["{[]: 1}", "{{1}}", "{**a}", "not_defined"])
def test_what_is_no_literal_is_no_parameter(literal):
    assert "slow" not in read_strategy_code(CROSS.replace("slow: int = 30", f"slow = {literal}")).params
