"""What the sandbox costs: `speed.py [--directory …] [--rounds 5]`.

Warm start without and with pandas, twenty users at once on two workers, and a backtest against the same library run
natively by this Python (which needs pandas for that) in the same run. Prints a table and, as its last line, one JSON
object; times are medians in milliseconds.
"""

import argparse
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

from satchel.market.seeding import seed_sets
from satchel.sandbox.model import MIB, Limits
from satchel.sandbox.wasm import WasmEngine
from satchel.strategies.backtest import modules, program

LIMITS = Limits(time_s=60, value_bytes=8 * MIB)
STRATEGY = """
import pandas as pd
from backtesting import Strategy
from backtesting.lib import crossover

def sma(values, n):
    return pd.Series(values).rolling(n).mean()

class Cross(Strategy):
    def init(self):
        self.fast, self.slow = self.I(sma, self.data.Close, 10), self.I(sma, self.data.Close, 30)
    def next(self):
        if crossover(self.fast, self.slow): self.position.close(); self.buy()
        elif crossover(self.slow, self.fast): self.position.close(); self.sell()
"""
TIMED = """
import time
strategy, data, times = load_strategy(inputs["strategy"], "Cross"), frame(inputs["candles"]), []
for _ in range(inputs["rounds"]):
    started = time.perf_counter()
    run(strategy, data, {})
    times.append((time.perf_counter() - started) * 1000)
times
"""


def backtest_program() -> str:
    """The product's own driver, timing its runs in place of reporting one."""
    return program().removesuffix("main()\n") + TIMED


def natively(text: str, inputs: dict) -> list[float]:
    """The same program in a plain Python of this environment; it is ours, so it needs no walls."""
    launch = "import sys, json\ninputs = json.load(sys.stdin)\n" + text.rstrip().removesuffix("times")
    launch += "\nprint(json.dumps(times))\n"
    done = subprocess.run([sys.executable, "-c", launch], input=json.dumps(inputs), capture_output=True, text=True,
                          check=True)  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory", type=Path, default=Path("~/.cache/satchel/sandbox").expanduser())
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    engine = WasmEngine(arguments.directory.resolve(), workers=2, wait_s=300)
    engine.run("1", {}, LIMITS)
    starts = {}
    for name, code in (("hello", "1"), ("numpy", "import numpy"), ("pandas", "import pandas")):
        starts[name] = median(engine.run(code, {}, LIMITS).duration_ms for _ in range(arguments.rounds))
        print(f"warm start, {name:<8}{starts[name]:>8} ms")
    began = time.perf_counter()
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda n: engine.run(f"import numpy as np\nint(np.arange({n}).sum())", {}, LIMITS),
                                range(1, 21)))  # fmt: skip
    took_s = time.perf_counter() - began
    failures = sum(answer.value != n * (n - 1) // 2 for n, answer in enumerate(answers, 1))
    print(f"20 users at once on 2 workers: {took_s:.1f} s, {failures} failures")
    bars = next(bars for candle_set, bars in seed_sets() if candle_set.symbol == "AAPL")
    names = ("open", "high", "low", "close", "volume")
    inputs = {
        "modules": modules(),
        "strategy": STRATEGY,
        "cash": 10_000,
        "commission": 0.001,
        "rounds": arguments.rounds,
        "candles": {"ts": [int(bar.ts.timestamp()) for bar in bars]}
        | {name: [float(getattr(bar, name)) for bar in bars] for name in names},
    }
    # In turns, so that a busier moment of the machine is both their lot.
    guest_ms, native_ms = [], []
    for _ in range(3):
        guest_ms += engine.run(backtest_program(), inputs, LIMITS).value
        native_ms += natively(backtest_program(), inputs)
    guest, native = median(guest_ms), median(native_ms)
    print(f"Backtest.run, {len(bars)} bars: sandbox {guest:.0f} ms, native {native:.0f} ms, {guest / native:.2f} times")
    engine.close()
    print(json.dumps({
        "start_ms": starts, "parallel_users": 20, "parallel_s": round(took_s, 2), "failures": failures,
        "backtest_ms": {"sandbox": round(guest), "native": round(native)}, "ratio": round(guest / native, 2),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
