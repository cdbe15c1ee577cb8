"""Which heavy modules a cold start of each handler loads. Each costs tens to hundreds of milliseconds, every time.

CPU of an import, measured on one machine (read the ratios): pydantic 47 ms, powertools 51, numpy 97, psycopg 150,
boto3 197, fastapi 300, mcp 933, anthropic 1,342. A module that only some requests need is imported where it is used.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = (
    "anthropic",
    "aws_lambda_powertools",
    "boto3",
    "ccxt",
    "fastapi",
    "mcp",
    "numpy",
    "onnxruntime",
    "psycopg",
    "pydantic",
    "starlette",
    "tokenizers",
)
STORE = {"psycopg", "pydantic"}
BUDGET = {
    "agent_gateway/app": STORE,
    "agent_socket/app": STORE,
    "agent_socket_authorizer/app": {"pydantic"},
    "agent_telegram/app": STORE,
    "agent_worker/app": STORE,
    "audit/app": STORE,
    "backtest_results/app": STORE,
    "backtest_worker/app": STORE,
    "blocks_upload/app": STORE,
    "blocks_worker/app": STORE,
    "build_blocks/app": STORE,
    "cancel_order/app": STORE,
    "configure_account/app": STORE,
    "context_resources/conversation": STORE,
    "context_resources/conversation_summary": STORE,
    "context_resources/session_blocks": STORE,
    "context_resources/system_prompt": STORE,
    "context_resources/user_profile": STORE,
    "context_resources/workspace_state": STORE,
    "database_migrator/app": STORE,
    "execute_live_trade/app": STORE,
    "execute_trade/app": STORE,
    "fetch_candles/app": STORE,
    "filter_response/app": STORE,
    "filter_upload/app": {"pydantic"},
    "filtered/app": STORE,
    "get_order/app": STORE,
    "get_positions/app": STORE,
    "get_watchlist/app": STORE,
    "healthz/app": STORE,
    "import_candles/app": STORE,
    "ingest_message/app": STORE,
    "job/app": STORE,
    "list_orders/app": STORE,
    "list_strategies/app": STORE,
    "live_order/app": STORE,
    "market_step/app": STORE,
    "mcp_adapter/app": {"mcp", "pydantic", "starlette"},
    "preferences/app": STORE | {"fastapi", "starlette"},
    "read_strategy/app": STORE,
    "reindex/app": STORE | {"numpy"},
    "run_backtest/app": STORE,
    "run_python/app": STORE,
    "sandbox/app": set(),
    "sandbox/sandbox_long": set(),
    "save_message/app": STORE,
    "search_conversation/app": STORE | {"numpy"},
    "set_price_alert/app": STORE,
    "strategy_context/app": STORE,
    "upstream_tool/app": STORE,
    "write_strategy/app": STORE,
}
LOAD = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
importlib.import_module(sys.argv[2])
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[3].split(",")))))
"""


def test_every_handler_has_a_budget():
    assert {path.with_suffix("").relative_to("functions").as_posix() for path in Path("functions").glob("*/*.py")} == (
        BUDGET.keys()
    )


@pytest.mark.parametrize("handler", BUDGET)
def test_a_handler_loads_no_more_than_its_budget(handler):
    folder, module = handler.split("/")
    command = [sys.executable, "-c", LOAD, f"functions/{folder}", module, ",".join(HEAVY)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert set(json.loads(ended.stdout)) == BUDGET[handler]
