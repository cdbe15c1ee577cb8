"""Reads a CloudFormation document and works out its intrinsic functions without asking AWS.

Only what can be known offline gets a value: parameters, conditions, mappings, names. What AWS would make up on deploy
(an attribute of a cluster, a physical id) becomes a readable placeholder, so that a local run can replace it by name.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

ACCOUNT_ID = "000000000000"
QUEUE = "AWS::SQS::Queue"
REGION = "us-east-1"

_SUBSTITUTION = re.compile(r"\$\{(!?)([^}]+)\}")
_NO_VALUE = object()


class TemplateError(Exception):
    """The template cannot be read, or uses something this reader does not know; the message says where."""


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short tags."""


def _construct_tag(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    if isinstance(node, yaml.ScalarNode):
        value: Any = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(cast("yaml.MappingNode", node), deep=True)
    if suffix == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


def _construct_date(loader: _Loader, node: yaml.ScalarNode) -> str:
    """`AWSTemplateFormatVersion: 2010-09-09` is text, not a day."""
    return loader.construct_scalar(node)


cast("Any", _Loader).add_multi_constructor("!", _construct_tag)
cast("Any", _Loader).add_constructor("tag:yaml.org,2002:timestamp", _construct_date)


def load(text: str) -> dict[str, Any]:
    """Parses a template, short tags (`!Ref x`) turned into their long form (`{"Ref": "x"}`).

    Raises:
        TemplateError: It is not YAML, or not a mapping.
    """
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader with tags that only build dicts
    except yaml.YAMLError as error:
        raise TemplateError(f"The template is not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise TemplateError("The template must be a mapping.")
    return cast("dict[str, Any]", document)


@dataclass
class Resolver:
    """Works out intrinsic functions of one template.

    Args:
        document: What `load` gave.
        stack_name: The value of `AWS::StackName`.
        parameters: Values that win over the defaults of `Parameters`.
    """

    document: Mapping[str, Any]
    stack_name: str
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])

    def resolve(self, value: Any) -> Any:
        """The value with every intrinsic function replaced; what resolves to `AWS::NoValue` is left out."""
        result = self._resolve(value)
        return None if result is _NO_VALUE else result

    def exists(self, resource: Mapping[str, Any]) -> bool:
        """Whether the resource's `Condition`, if it has one, holds."""
        condition = resource.get("Condition")
        return condition is None or self.condition(str(condition))

    def condition(self, name: str) -> bool:
        """The value of a named condition."""
        conditions = self.document.get("Conditions", {})
        if name not in conditions:
            raise TemplateError(f"There is no condition named {name}.")
        return self._truth(conditions[name])

    def function_arn(self, name: str) -> str:
        """The ARN a function of this name has in this stack."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT_ID}:function:{name}"

    def queue_name(self, logical_id: str) -> str:
        """The name of a queue."""
        given = self.document["Resources"][logical_id].get("Properties", {}).get("QueueName")
        return str(self._resolve(given)) if given is not None else f"{self.stack_name}-{logical_id}"

    def _resolve(self, value: Any) -> Any:
        if isinstance(value, dict):
            mapping = cast("dict[str, Any]", value)
            if len(mapping) == 1:
                name, argument = next(iter(mapping.items()))
                intrinsic = self._intrinsics().get(name)
                if intrinsic is not None:
                    return intrinsic(argument)
            resolved = {key: self._resolve(item) for key, item in mapping.items()}
            return {key: item for key, item in resolved.items() if item is not _NO_VALUE}
        if isinstance(value, list):
            items = [self._resolve(item) for item in cast("list[Any]", value)]
            return [item for item in items if item is not _NO_VALUE]
        return value

    def _intrinsics(self) -> dict[str, Callable[[Any], Any]]:
        return {
            "Ref": lambda name: self._ref(str(name)),
            "Fn::Sub": self._sub,
            "Fn::GetAtt": lambda parts: self._attribute(str(parts[0]), ".".join(map(str, parts[1:]))),
            "Fn::Join": lambda parts: str(parts[0]).join(map(str, self._resolve(parts[1]))),
            "Fn::Split": lambda parts: str(self._resolve(parts[1])).split(str(parts[0])),
            "Fn::Select": lambda parts: self._resolve(parts[1])[int(self._resolve(parts[0]))],
            "Fn::If": lambda parts: self._resolve(parts[1] if self.condition(str(parts[0])) else parts[2]),
            "Fn::FindInMap": self._find_in_map,
            "Fn::ImportValue": lambda name: str(self._resolve(name)),
            "Fn::GetAZs": lambda _region: [f"{REGION}a", f"{REGION}b", f"{REGION}c"],
        }

    def _ref(self, name: str) -> Any:
        pseudo = {
            "AWS::StackName": self.stack_name,
            "AWS::Region": REGION,
            "AWS::AccountId": ACCOUNT_ID,
            "AWS::Partition": "aws",
            "AWS::URLSuffix": "amazonaws.com",
            "AWS::StackId": f"arn:aws:cloudformation:{REGION}:{ACCOUNT_ID}:stack/{self.stack_name}/local",
            "AWS::NoValue": _NO_VALUE,
        }
        if name in pseudo:
            return pseudo[name]
        declared = self.document.get("Parameters", {})
        if name in declared:
            value: Any = self.parameters.get(name, declared[name].get("Default"))
            if value is None:
                raise TemplateError(f"The parameter {name} has no default and was not given.")
            is_list = str(declared[name].get("Type", "")).startswith(("CommaDelimitedList", "List<"))
            return [part.strip() for part in str(value).split(",")] if is_list else value
        resource = self.document.get("Resources", {}).get(name, {})
        if resource.get("Type") == QUEUE:
            return f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT_ID}/{self.queue_name(name)}"
        physical_name = resource.get("Properties", {}).get("FunctionName")
        return self._resolve(physical_name) if physical_name is not None else name

    def _sub(self, argument: Any) -> str:
        if isinstance(argument, list):
            text, variables = cast("tuple[str, dict[str, Any]]", tuple(cast("list[Any]", argument)))
        else:
            text, variables = str(argument), dict[str, Any]()

        def replace(match: re.Match[str]) -> str:
            literal, name = match.groups()
            if literal:
                return "${" + name + "}"
            if name in variables:
                return str(self._resolve(variables[name]))
            resource, dot, attribute = name.strip().partition(".")
            return str(self._attribute(resource, attribute) if dot else self._ref(resource))

        return _SUBSTITUTION.sub(replace, text)

    def _attribute(self, resource: str, attribute: str) -> str:
        kind = self.document.get("Resources", {}).get(resource, {}).get("Type", "")
        if kind in {"AWS::Serverless::Function", "AWS::Lambda::Function"} and attribute == "Arn":
            return self.function_arn(str(self._ref(resource)))
        if kind == QUEUE and attribute == "Arn":
            return f"arn:aws:sqs:{REGION}:{ACCOUNT_ID}:{self.queue_name(resource)}"
        return f"{resource}.{attribute}"

    def _find_in_map(self, parts: list[Any]) -> Any:
        name, top, second = (str(self._resolve(part)) for part in parts[:3])
        try:
            return self._resolve(self.document["Mappings"][name][top][second])
        except KeyError as error:
            raise TemplateError(f"The mapping {name} has no {top}.{second}.") from error

    def _truth(self, expression: Mapping[str, Any]) -> bool:
        name, argument = next(iter(expression.items()))
        match name:
            case "Fn::Equals":
                return self._resolve(argument[0]) == self._resolve(argument[1])
            case "Fn::Not":
                return not self._truth(argument[0])
            case "Fn::And":
                return all(self._truth(part) for part in argument)
            case "Fn::Or":
                return any(self._truth(part) for part in argument)
            case "Condition":
                return self.condition(str(argument))
            case _:
                raise TemplateError(f"{name} is not a condition function.")
