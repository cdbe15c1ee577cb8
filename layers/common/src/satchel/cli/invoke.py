"""`satchel invoke`: one function, once, with an event from a file, without Docker."""

import argparse
import asyncio
import json
import sys
import uuid
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from satchel.cli.errors import CommandError
from satchel.cli.options import add_data
from satchel.local.cloudformation import TemplateError
from satchel.local.data_folder import DataFolder, DataFolderError, RunningStack
from satchel.local.embedded_postgres import PostgresError
from satchel.local.invocation import Invocation, Outcome
from satchel.local.project import Project, ProjectError, find
from satchel.local.satchel_stack import read_application, serving
from satchel.local.template import Application, Function

if TYPE_CHECKING:
    from satchel.cli.options import Commands


def add_commands(commands: "Commands") -> None:
    """Adds `invoke`."""
    parser = commands.add_parser(
        "invoke",
        help="run one function once",
        description="Run one function once on the data folder, through its running server if there is one, and print "
        "what it returns. The exit status is 1 if the function fails.",
    )
    parser.add_argument("function", help="logical id, such as SaveMessageFunction, or folder, such as save_message")
    parser.add_argument("-e", "--event", required=True, metavar="FILE", help="JSON file with the event; - is stdin")
    add_data(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Runs a function and prints its answer."""
    event = _read_event(arguments.event)
    data = DataFolder(arguments.data)
    try:
        project = find()
        function = _find_function(project, arguments.function)
        running = data.running()
        outcome = _through(running, function, event) if running else asyncio.run(_alone(project, data, function, event))
    except (DataFolderError, PostgresError, ProjectError, TemplateError) as error:
        raise CommandError(str(error)) from error
    print(outcome.payload.decode())
    if outcome.error:
        raise CommandError(f"{function.logical_id} failed.")


def _read_event(name: str) -> bytes:
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text("utf-8")
        json.loads(text)
    except OSError as error:
        raise CommandError(f"The event {name} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise CommandError(f"The event {name} is not JSON: {error}.") from error
    return text.encode()


def _find_function(project: Project, name: str) -> Function:
    application = read_application(project, "http://127.0.0.1")
    function = application.find(name)
    if function is None:
        raise CommandError(_not_found(name, application))
    return function


def _not_found(name: str, application: Application) -> str:
    """That there is no such function, with the likeliest ones, or all of them, one a line."""
    names = {function.name.split("-", 1)[-1]: logical_id for logical_id, function in application.functions.items()}
    close = get_close_matches(name, [*names, *names.values()], n=3, cutoff=0.5)
    told = list(dict.fromkeys(names.get(match, match) for match in close)) or sorted(names.values())
    heading = "Did you mean" if close else "There are"
    return "\n  ".join([f"There is no one function {name}. {heading}:", *told])


def _through(running: RunningStack, function: Function, event: bytes) -> Outcome:
    """Asks the server that has the data folder."""
    import boto3  # noqa: PLC0415 - a heavy client
    from botocore.config import Config  # noqa: PLC0415 - a heavy client

    client = boto3.client(  # pyright: ignore[reportUnknownMemberType]
        "lambda",
        endpoint_url=running.invoke_url,
        region_name="us-east-1",
        aws_access_key_id=running.access_key,
        aws_secret_access_key="local",  # noqa: S106 - not checked
        config=Config(retries={"total_max_attempts": 1}, read_timeout=function.timeout_s + 30),
    )
    answer = client.invoke(FunctionName=function.name, Payload=event)
    return Outcome(answer["Payload"].read(), error="FunctionError" in answer)


async def _alone(project: Project, data: DataFolder, function: Function, event: bytes) -> Outcome:
    async with serving(project, data, port=0, reload=False, called_first=[function.logical_id]) as running:
        return await running.stack.invoke(function.logical_id, Invocation(str(uuid.uuid4()), event))
