"""The queues of a running stack, through `boto3`."""

import time

import boto3
import pytest
from botocore.exceptions import ClientError

URL = "https://sqs.us-east-1.amazonaws.com/000000000000/probes-SomeQueue"


@pytest.fixture(scope="module")
def running(serve):
    return serve()


def sqs(running, key=None):
    return boto3.client(
        "sqs",
        endpoint_url=f"{running.stack.invoke_url}/queues",
        region_name="us-east-1",
        aws_access_key_id=key or running.stack.access_key,
        aws_secret_access_key="local",
    )


def test_a_message_reaches_the_function_that_reads_the_queue(running):
    sent = sqs(running).send_message(QueueUrl=URL, MessageBody="여보세요")
    folder = running.project.parent / "queues/probes-SomeQueue"
    end = time.monotonic() + 20
    while list(folder.glob("*.json")):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert sent["MessageId"]
    assert any("said" in str(record) for record in running.log_records())


def test_what_sqs_refuses_is_refused_with_its_errors(running):
    client = sqs(running)
    with pytest.raises(client.exceptions.QueueDoesNotExist):
        client.send_message(QueueUrl=URL + "-other", MessageBody="x")
    with pytest.raises(client.exceptions.ReceiptHandleIsInvalid):
        client.change_message_visibility(QueueUrl=URL, ReceiptHandle="AQEB", VisibilityTimeout=5)
    with pytest.raises(client.exceptions.UnsupportedOperation):
        client.purge_queue(QueueUrl=URL)


def test_only_callers_with_the_key_of_this_start_send(running):
    with pytest.raises(ClientError, match="denied"):
        sqs(running, key="AKIASOMEBODY").send_message(QueueUrl=URL, MessageBody="x")
