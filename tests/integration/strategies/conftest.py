from tests.support.sandbox import in_wasm, sandbox_directory, wasm

__all__ = ["in_wasm", "sandbox_directory", "wasm"]
