"""Objects in a bucket of Amazon S3; its lifecycle rule is what ends them."""

from collections.abc import Generator
from contextlib import contextmanager
from io import BufferedReader
from typing import Any, BinaryIO, cast

from satchel.errors import NotFoundError, UnavailableError
from satchel.objects.port import LINK_S

_MISSING = {"404", "NoSuchKey", "NotFound"}
_TAKEN = {"PreconditionFailed", "ConditionalRequestConflict"}


class S3Objects:
    """See `satchel.objects.port.Objects`.

    Args:
        bucket: Its name.
    """

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._made: Any = None

    def upload_link(self, key: str) -> str:
        """See `Objects.upload_link`."""
        return self._link("put_object", key)

    def download_link(self, key: str) -> str:
        """See `Objects.download_link`."""
        return self._link("get_object", key)

    def size(self, key: str) -> int | None:
        """See `Objects.size`."""
        try:
            with _telling():
                return self._client.head_object(Bucket=self._bucket, Key=key)["ContentLength"]
        except NotFoundError:
            return None

    @contextmanager
    def open(self, key: str) -> Generator[BinaryIO]:
        """See `Objects.open`."""
        with _telling(), self._client.get_object(Bucket=self._bucket, Key=key)["Body"] as body:
            yield BufferedReader(body)

    def write(self, key: str, content: BinaryIO) -> None:
        """See `Objects.write`; in parts where it is large."""
        with _telling():
            self._client.upload_fileobj(content, self._bucket, key)

    def create(self, key: str, content: bytes) -> bool:
        """See `Objects.create`."""
        from botocore.exceptions import ClientError  # noqa: PLC0415

        try:
            with _telling():
                self._client.put_object(Bucket=self._bucket, Key=key, Body=content, IfNoneMatch="*")
        except UnavailableError as error:
            if isinstance(error.__cause__, ClientError) and _code_of(error.__cause__) in _TAKEN:
                return False
            raise
        return True

    def _link(self, action: str, key: str) -> str:
        return self._client.generate_presigned_url(
            action, Params={"Bucket": self._bucket, "Key": key}, ExpiresIn=LINK_S
        )

    @property
    def _client(self) -> Any:
        if self._made is None:
            import boto3  # noqa: PLC0415 - only where something is kept
            from botocore.config import Config  # noqa: PLC0415

            config = Config(signature_version="s3v4", s3={"addressing_style": "virtual"})
            self._made = cast("Any", boto3).client("s3", config=config)
        return self._made


@contextmanager
def _telling() -> Generator[None]:
    """Tells S3's errors in our terms."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

    try:
        yield
    except ClientError as error:
        if _code_of(error) in _MISSING:
            raise NotFoundError("there is no such object") from error
        raise UnavailableError("what is kept aside cannot be reached now") from error
    except BotoCoreError as error:
        raise UnavailableError("what is kept aside cannot be reached now") from error


def _code_of(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))
