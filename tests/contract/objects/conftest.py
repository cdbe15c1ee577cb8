"""The two places of objects: a bucket (moto's, asked through the real client) and a folder behind a real server."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import boto3
import httpx
import pytest
import requests
from moto import mock_aws

from satchel.local import object_front
from satchel.local.server import Server, address, listen
from satchel.objects.files import FileObjects
from satchel.objects.s3 import S3Objects
from tests.support.objects import Clock, Place


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def folder(tmp_path: Path, clock: Clock) -> Iterator[tuple[FileObjects, Place]]:
    front = listen()
    objects = FileObjects(
        tmp_path / "objects", url=f"http://{address(front)}{object_front.PATH}", secret="s", clock=clock
    )
    server, loop = Server({front: object_front.build(objects)}), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    asyncio.run_coroutine_threadsafe(server.start(), loop).result(10)

    def get(url: str) -> tuple[int, bytes]:
        answer = httpx.get(url)
        return answer.status_code, answer.content

    yield objects, Place(objects, lambda url, body: httpx.put(url, content=body).status_code, get)
    asyncio.run_coroutine_threadsafe(server.stop(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(params=["bucket", "folder"])
def place(request, monkeypatch, folder) -> Iterator[Place]:
    if request.param == "folder":
        yield folder[1]
        return
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    with mock_aws():
        boto3.client("s3").create_bucket(
            Bucket="kept-aside", CreateBucketConfiguration={"LocationConstraint": "eu-central-1"}
        )

        def get(url: str) -> tuple[int, bytes]:
            with requests.get(url, timeout=10) as answer:
                return answer.status_code, answer.content

        def put(url: str, body: bytes) -> int:
            with requests.put(url, data=body, timeout=10) as answer:
                return answer.status_code

        yield Place(S3Objects("kept-aside"), put, get)
