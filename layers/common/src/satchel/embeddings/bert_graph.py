"""The transformer body of a BERT encoder as an ONNX graph, in int8. Needs `onnx`; build time only.

The vocabulary table stays outside: 96 million of e5-small's 118 million weights are in it, a text touches a few dozen
of its rows, and as a memory-mapped file it costs no start-up time. The graph's input is those rows.
"""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic  # pyright: ignore[reportMissingTypeStubs, reportUnknownVariableType]

from satchel.embeddings.weights import Weights

OPSET = 17
IR_VERSION = 8


class _Graph:
    """Collects nodes and constants; each operation is named after its order, so that the bytes never vary."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: NDArray[Any] | np.float32) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def apply(self, operator: str, *inputs: str, **attributes: Any) -> str:
        output = f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [output], **attributes))
        return output


class _Body:
    """Writes the layers of a BERT encoder (post-norm, GELU) into a graph."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.graph = _Graph()
        sizes = weights.sizes
        head = sizes.hidden // sizes.heads
        constant = self.graph.constant
        self._split = constant("split_heads", np.array([0, 0, sizes.heads, head], np.int64))
        self._join = constant("join_heads", np.array([0, 0, sizes.hidden], np.int64))
        self._scale = constant("attention_scale", np.float32(1 / np.sqrt(head)))
        self._half = constant("half", np.float32(0.5))
        self._root = constant("inverse_root_two", np.float32(1 / np.sqrt(2)))
        self._one = constant("one", np.float32(1))

    def embed(self) -> str:
        sizes, weights, apply, constant = self.weights.sizes, self.weights, self.graph.apply, self.graph.constant
        positions = constant("positions", weights.floats("emb.pos").reshape(-1, sizes.hidden))
        kind = constant("segment", weights.floats("emb.type").reshape(-1, sizes.hidden)[0])
        at = apply("Gather", positions, "position_ids")
        return self.norm(apply("Add", apply("Add", "word_embeds", at), kind), "emb.ln")

    def layer(self, x: str, index: int) -> str:
        sizes, apply, prefix = self.weights.sizes, self.graph.apply, f"l{index}."
        query, key, value = (self._heads(self.linear(x, prefix + part, sizes.hidden)) for part in "qkv")
        scores = apply("MatMul", query, apply("Transpose", key, perm=[0, 1, 3, 2]))
        shares = apply("Softmax", apply("Mul", scores, self._scale), axis=-1)
        mixed = apply("Transpose", apply("MatMul", shares, value), perm=[0, 2, 1, 3])
        attended = self.linear(apply("Reshape", mixed, self._join), prefix + "ao", sizes.hidden)
        x = self.norm(apply("Add", attended, x), prefix + "aln")
        inner = self._gelu(self.linear(x, prefix + "fi", sizes.hidden))
        return self.norm(apply("Add", self.linear(inner, prefix + "fo", sizes.feed_forward), x), prefix + "oln")

    def linear(self, x: str, name: str, columns: int) -> str:
        weight = self.graph.constant(name + ".w", self.weights.unpacked(name + ".w", columns).T)
        bias = self.graph.constant(name + ".b", self.weights.floats(name + ".b"))
        return self.graph.apply("Add", self.graph.apply("MatMul", x, weight), bias)

    def norm(self, x: str, name: str) -> str:
        scale = self.graph.constant(name + ".w", self.weights.floats(name + ".w"))
        shift = self.graph.constant(name + ".b", self.weights.floats(name + ".b"))
        epsilon = self.weights.sizes.epsilon
        return self.graph.apply("LayerNormalization", x, scale, shift, axis=-1, epsilon=epsilon)

    def _heads(self, x: str) -> str:
        return self.graph.apply("Transpose", self.graph.apply("Reshape", x, self._split), perm=[0, 2, 1, 3])

    def _gelu(self, x: str) -> str:
        apply = self.graph.apply
        bent = apply("Add", apply("Erf", apply("Mul", x, self._root)), self._one)
        return apply("Mul", apply("Mul", x, self._half), bent)


def write_body(weights: Weights, path: Path, *, name: str) -> None:
    """Write the int8 body: inputs `word_embeds` (1, n, hidden) and `position_ids` (1, n), output `token_states`.

    There is no attention mask, since texts are encoded one at a time: dynamic quantisation takes its scale from the
    whole batch, so in a batch a text's vectors would depend on the texts beside it.

    Args:
        weights: The source.
        path: Where the file goes; a float32 form lies beside it for the time of the call.
        name: Of the model, written into the file.
    """
    body = _Body(weights)
    x = body.embed()
    for index in range(weights.sizes.layers):
        x = body.layer(x, index)
    body.graph.nodes.append(helper.make_node("Identity", [x], ["token_states"]))
    shape = ["batch", "length", weights.sizes.hidden]
    graph = helper.make_graph(
        body.graph.nodes,
        name,
        [
            helper.make_tensor_value_info("word_embeds", TensorProto.FLOAT, shape),
            helper.make_tensor_value_info("position_ids", TensorProto.INT64, shape[:2]),
        ],
        [helper.make_tensor_value_info("token_states", TensorProto.FLOAT, shape)],
        body.graph.constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    exact = path.with_suffix(".fp32.onnx")
    onnx.save(model, str(exact))  # pyright: ignore[reportUnknownMemberType]
    quantize_dynamic(exact, path, weight_type=QuantType.QInt8)
    exact.unlink()
