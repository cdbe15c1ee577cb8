"""What the answer of `build_blocks` promises of itself."""

from dataclasses import replace

import pytest

from satchel.api.error_table import wire_of
from satchel.api.wire.built_blocks import BuildResponse
from satchel.blocks.result import BuildResult, BuiltBlock
from satchel.blocks.sessions import Tags
from satchel.errors import InvalidAnswerError

BLOCK = BuiltBlock("blk_s_1", ("m1",), Tags())
TWIN = replace(BLOCK, block_id="blk_s_2")


def result(*blocks: BuiltBlock) -> BuildResult:
    return BuildResult(session_id="s", model="rules", blocks=list(blocks), messages=1)


@pytest.mark.parametrize("blocks", [(BLOCK, TWIN), (replace(BLOCK, confidence=1.5),)], ids=["two homes", "no share"])
def test_an_answer_that_breaks_its_contract_is_a_500_and_is_not_sent(blocks: tuple[BuiltBlock, ...]) -> None:
    with pytest.raises(InvalidAnswerError, match="was not sent") as caught:
        BuildResponse.of(result(*blocks))
    assert wire_of(caught.value).status == 500


def test_an_answer_that_keeps_it_is_sent() -> None:
    assert BuildResponse.of(result(BLOCK)).messageToBlock == {"m1": "blk_s_1"}
