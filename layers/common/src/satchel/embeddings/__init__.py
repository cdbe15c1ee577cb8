"""Text to vectors: one small protocol, a local multilingual model, Amazon Bedrock, and a double for tests."""
