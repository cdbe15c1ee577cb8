"""Sends frames to clients of the WebSocket API."""

from typing import Any, cast

from satchel.errors import UnavailableError


class GoneError(Exception):
    """The client is not connected any more, or not yet."""


class Connections:
    """The connections of one WebSocket API.

    Args:
        url: Where its management is; empty leaves it to `AWS_ENDPOINT_URL_APIGATEWAYMANAGEMENTAPI`.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._client: Any = None

    def send(self, connection_id: str, text: str) -> None:
        """Send a frame.

        Raises:
            GoneError: The client is not connected.
            UnavailableError: It could not be sent.
        """
        import boto3  # noqa: PLC0415 - only where somebody is connected
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415

        if self._client is None:
            self._client = cast("Any", boto3).client("apigatewaymanagementapi", endpoint_url=self._url or None)
        try:
            self._client.post_to_connection(ConnectionId=connection_id, Data=text.encode())
        except self._client.exceptions.GoneException as error:
            raise GoneError from error
        except (BotoCoreError, ClientError) as error:
            raise UnavailableError("a frame could not be sent") from error
