"""Embeddings by Amazon Bedrock, for those who prefer them to the local model: pooled vectors only.

Sources of the two request forms: the Bedrock user guide, "Amazon Titan Embeddings Text" and "Cohere Embed models".
"""

import json
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from satchel.embeddings.background import Background
from satchel.embeddings.encoder import Encoding, InputType
from satchel.embeddings.measuring import measure_background
from satchel.errors import UnavailableError

TITAN = "amazon.titan-embed-text-v2:0"
COHERE_MULTILINGUAL = "cohere.embed-multilingual-v3"
# Cohere's models take at most this many texts, and this many characters of each, in one request.
COHERE_TEXTS = 96
COHERE_CHARS = 2048
TITAN_CHARS = 50_000

_COHERE_INPUT: dict[InputType, str] = {"query": "search_query", "passage": "search_document"}


class BedrockEncoder:
    """Titan Text Embeddings V2 or Cohere Embed Multilingual over the Bedrock runtime.

    Args:
        model_id: `TITAN` or `COHERE_MULTILINGUAL` (or an inference profile of one).
        client: A `bedrock-runtime` client; made at the first text when None.
    """

    dimensions = 1024

    def __init__(self, model_id: str = TITAN, *, client: Any = None) -> None:
        self.name = model_id
        self._given_client = client

    @property
    def background(self) -> Background:
        """What its vectors share, measured on a dozen texts at the first search."""
        return self._background

    @cached_property
    def _background(self) -> Background:
        return measure_background(self)

    def encode(self, texts: Sequence[str], *, input_type: InputType) -> list[Encoding]:
        """Encode each text by itself, see `Encoder.encode`."""
        if "cohere" in self.name:
            return self._encode_with_cohere(texts, input_type)
        return [self._encode_with_titan(text) for text in texts]

    def _encode_with_titan(self, text: str) -> Encoding:
        read = text[:TITAN_CHARS]
        # Titan refuses an empty text; a blank has a vector like any other.
        answer = self._invoke({"inputText": read or " ", "dimensions": self.dimensions, "normalize": True})
        return _encoding(answer["embedding"], len(read))

    def _encode_with_cohere(self, texts: Sequence[str], input_type: InputType) -> list[Encoding]:
        encodings: list[Encoding] = []
        for start in range(0, len(texts), COHERE_TEXTS):
            read = [text[:COHERE_CHARS] for text in texts[start : start + COHERE_TEXTS]]
            body = {"texts": [text or " " for text in read], "input_type": _COHERE_INPUT[input_type], "truncate": "END"}
            vectors = self._invoke(body)["embeddings"]
            encodings += [_encoding(vector, len(text)) for vector, text in zip(vectors, read, strict=True)]
        return encodings

    def _invoke(self, body: dict[str, Any]) -> dict[str, Any]:
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - comes with boto3

        try:
            answer = self._client.invoke_model(modelId=self.name, body=json.dumps(body), accept="application/json")
            return json.loads(answer["body"].read())
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError("the embedding model does not answer", retry_after_s=2) from error

    @cached_property
    def _client(self) -> Any:
        if self._given_client is not None:
            return self._given_client
        import boto3  # noqa: PLC0415 - 200 ms that only this encoder costs
        from botocore.config import Config  # noqa: PLC0415

        # A save waits for this: two quick tries, then the message is kept and embedded later.
        config = Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 2})
        connect: Any = boto3.client  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        return connect("bedrock-runtime", config=config)


def _encoding(vector: Sequence[float], chars_read: int) -> Encoding:
    pooled = np.asarray(vector, dtype=np.float32)
    return Encoding((pooled / np.linalg.norm(pooled)).astype(np.float32), None, (), chars_read)
