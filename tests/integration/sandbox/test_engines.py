"""What every engine promises."""

import fcntl
import os
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from satchel.errors import UnavailableError
from satchel.sandbox.bubblewrap import BubblewrapEngine
from satchel.sandbox.model import Limits, SandboxResult
from satchel.sandbox.wasm import WasmEngine, owned

LIMITS = Limits(time_s=20.0)


def run(engine, code, inputs=None, limits=LIMITS) -> SandboxResult:
    return engine.run(code, inputs or {}, limits)


def test_the_last_expression_is_the_value_and_print_is_stdout(engine):
    result = run(engine, "print('한국어 😀')\nx = inputs['n'] * 2\nx + 1", {"n": 20})
    assert (result.status, result.stdout, result.stderr, result.value) == ("ok", "한국어 😀\n", "", 41)


def test_values_without_a_json_form_come_back_as_text_or_null(engine):
    result = run(
        engine, "import datetime\n[float('nan'), 2**60, {1: (2, None)}, datetime.date(2025, 1, 2), {'b', 'a'}]"
    )
    assert result.value == [None, str(2**60), {"1": [2, None]}, "2025-01-02", ["a", "b"]]


def test_an_error_shows_the_programs_own_lines_only(engine):
    result = run(engine, "def f():\n    return 1 / 0\nf()")
    assert result.status == "error"
    assert 'File "<program>", line 2, in f' in result.stderr
    assert "bootstrap" not in result.stderr
    assert '"<string>"' not in result.stderr


def test_a_syntax_error_is_told_with_its_line(engine):
    assert "line 2" in run(engine, "x = 1\ny = = 2").stderr


def test_leaving_with_a_message_is_an_error_and_leaving_quietly_is_not(engine):
    assert run(engine, "raise SystemExit").status == "ok"
    result = run(engine, "raise SystemExit('no data')")
    assert (result.status, result.stderr) == ("error", "no data\n")


def test_a_value_over_the_limit_is_left_out_and_said_so(engine):
    result = run(engine, "'x' * 5000", limits=Limits(value_bytes=1000))
    assert (result.status, result.value, result.truncated) == ("ok", None, ("value",))


def test_output_is_cut_at_the_limit_on_the_byte(engine):
    result = run(engine, "print('x' * 5000)", limits=Limits(output_bytes=1000))
    assert (result.status, len(result.stdout), result.truncated) == ("output_limit", 1000, ("stdout",))


def test_every_result_names_the_walls(engine):
    layers = run(engine, "1").layers
    assert {"empty-environment", "rlimits", "seccomp"} <= set(layers)


def test_numpy_integers_overflow_silently_at_32_bits_and_not_when_loaded_as_64(wasm):
    code = """
import numpy as np
v = [2_000_000_000, 2_000_000_000]
[str(np.array(v).dtype), int(np.array(v).sum(dtype=np.int32)), int(np.array(v, "int64").sum())]
"""
    value = run(wasm, code).value
    assert value == ["int32", 4_000_000_000 - 2**32, 4_000_000_000]


def test_indicators_are_computed_by_pandas_ta(wasm):
    code = """
import pandas as pd
import pandas_ta_classic as ta
close = pd.Series([1.0, 2, 3, 4, 6, 9])
[ta.sma(close, 3).tolist()[2:], ta.rsi(close, 3).iloc[-1], ta.ema(close, 3).iloc[-1]]
"""
    result = run(wasm, code)
    assert (result.status, result.stderr) == ("ok", "")
    averages, strength, exponential = result.value
    # EMA by hand: it begins at the mean of the first three, 2, and moves half of the way each time.
    assert (averages, strength, exponential) == (pytest.approx([2, 3, 13 / 3, 19 / 3]), 100, pytest.approx(6.75))


def test_open_figures_come_back_as_pictures(wasm):
    result = run(wasm, "import matplotlib.pyplot as plt\nplt.plot([1, 3, 2])\nNone")
    assert [artefact.name for artefact in result.artefacts] == ["figure-1.png"]
    assert result.artefacts[0].data.startswith(b"\x89PNG")


def test_a_killed_worker_is_replaced_and_the_next_program_runs(sandbox_directory):
    engine = WasmEngine(sandbox_directory)
    try:
        assert run(engine, "1").value == 1
        engine._workers[0]._process.kill()
        engine._workers[0]._process.wait()
        assert run(engine, "2").value == 2
    finally:
        engine.close()


def test_a_worker_killed_in_the_middle_is_a_crash_and_not_an_answer(sandbox_directory):
    engine = WasmEngine(sandbox_directory)
    try:
        run(engine, "1")
        threading.Timer(0.5, engine._workers[0]._process.kill).start()
        assert run(engine, "while True: pass").status == "crashed"
        assert run(engine, "3").value == 3
    finally:
        engine.close()


def test_twenty_users_at_once_each_get_their_own_answer(sandbox_directory):
    engine = WasmEngine(sandbox_directory, workers=2)
    try:
        with ThreadPoolExecutor(20) as pool:
            results = list(pool.map(lambda n: run(engine, "inputs['n'] ** 2", {"n": n}), range(20)))
    finally:
        engine.close()
    assert [(result.status, result.value) for result in results] == [("ok", n * n) for n in range(20)]


def test_without_a_prepared_runtime_nothing_is_run(tmp_path):
    with pytest.raises(UnavailableError, match="sandbox-warm"):
        run(WasmEngine(tmp_path), "1")


def test_without_bubblewrap_its_engine_runs_nothing(monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UnavailableError, match="not installed"):
        run(BubblewrapEngine(), "1")


def test_closing_leaves_no_process_and_no_file(sandbox_directory):
    engine = WasmEngine(sandbox_directory)
    run(engine, "open('/tmp/x', 'w').write('x')")
    worker = engine._workers[0]
    process, scratch = worker._process, worker._scratch
    engine.close()
    assert process.poll() is not None
    assert not scratch.exists()


def test_an_unprepared_engine_that_may_prepare_itself_says_so_and_starts(tmp_path):
    started = []
    engine = WasmEngine(tmp_path, prepare=started.append)
    with pytest.raises(UnavailableError, match="being prepared") as caught:
        run(engine, "1")
    assert caught.value.retry_after_s == 60
    assert started == [tmp_path]


def test_an_engine_whose_runtime_is_not_installed_says_so_and_starts_nothing(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr("satchel.sandbox.wasm.find_spec", lambda _name: None)
    with pytest.raises(UnavailableError, match=r"not installed \(make setup\)"):
        run(WasmEngine(tmp_path, prepare=started.append), "1")
    assert started == []


def test_what_the_preparation_says_is_in_the_log(tmp_path):
    prepare = "import sys, pathlib, satchel.sandbox.wasm as w; w.prepare_in_background(pathlib.Path(sys.argv[1]))"
    command = [sys.executable, "-c", prepare, str(tmp_path)]
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("", "another process prepares it already\n")


def test_files_of_another_user_are_copied_to_where_they_are_ones_own(sandbox_directory, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert owned(sandbox_directory) == sandbox_directory
    owner = sandbox_directory.stat().st_uid
    with monkeypatch.context() as another:
        another.setattr(os, "getuid", lambda: owner + 1)
        copy = owned(sandbox_directory)
    assert copy == tmp_path / "satchel-sandbox"
    assert (copy / "modules").stat().st_mode & 0o777 == 0o700
    engine = WasmEngine(copy)
    try:
        assert run(engine, "1").value == 1
    finally:
        engine.close()


def test_a_busy_engine_says_so_in_place_of_waiting_for_ever(sandbox_directory):
    engine = WasmEngine(sandbox_directory, wait_s=0.1)
    try:
        run(engine, "1")
        with ThreadPoolExecutor(1) as pool:
            slow = pool.submit(run, engine, "import time; time.sleep(3)")
            time.sleep(0.5)
            with pytest.raises(UnavailableError, match="busy"):
                run(engine, "2")
            assert slow.result().status == "ok"
    finally:
        engine.close()


def test_nobody_gets_more_memory_than_the_worker_was_made_for(wasm):
    with pytest.raises(ValueError, match="at most"):
        run(wasm, "1", limits=Limits(memory_bytes=2**31))
