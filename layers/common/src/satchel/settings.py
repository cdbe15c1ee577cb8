"""Every knob of Satchel, read from the environment once.

Only `satchel.wiring` reads these; everything else is handed what it needs.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The environment of one function, with the names and defaults of `template.yaml`.

    Attributes:
        stack: Prefix of the names of our functions (`{stack}-save_message`).
        database_url: Connection string; empty where `database_secret` is used.
        database_secret: ARN of a Secrets Manager secret with host, port, dbname, username and password.
        database_admin_url: Connection string of the database's owner; empty where `database_admin_secret` is used.
        database_admin_secret: ARN of the owner's secret, of the same form; only the migrator has it.
        encoder: `e5-small`, `minilm` (English alone) or `bedrock`.
        model_dir: Folder with the encoder's files.
        issuer: Who signs our callers' tokens (the `iss` claim).
        jwks_url: Where the issuer's public keys are.
        resource_url: The URL callers know us by; tokens must name it as audience.
        allowed_hosts: Host names, beside localhost, that a request may name.
        allowed_origins: Origins, beside localhost, that a browser may call from.
        request_state_keys: Secrets that seal `requestState` between requests; the first seals, all open.
        request_state_secret: ARN of a secret that holds `request_state_keys`, where they are not given themselves.
        llm: `none`, `anthropic` or `bedrock`.
        llm_model: The model's name.
        anthropic_secret: ARN of a secret that holds the API key for Claude, where `ANTHROPIC_API_KEY` does not.
        agent_llm: Who answers in chats: as `llm`.
        agent_model: The model that chats ask.
        agent_user_models: Other models for some users, as `user=model`.
        agent_toolsets: Tool sets whose tools a chat is offered.
        agent_max_calls: Requests to the model, at most, in one turn.
        agent_max_tokens: Tokens, at most, in one turn.
        agent_max_usd: US dollars, at most, for one turn.
        agent_queue: URL of the queue that the worker of chats reads.
        socket_url: Where frames to clients of the WebSocket API are sent.
        token_url: The issuer's token endpoint, where the gateway gets tokens for turns that outlive their request.
        gateway_client: The gateway's client id there.
        gateway_key: Its client secret.
        gateway_secret: ARN of a secret that holds `gateway_key`.
        telegram_url: Telegram's Bot API.
        telegram_token: The bot's token.
        telegram_webhook_secret: What Telegram sends along with every update.
        telegram_secret: ARN of a secret that holds both, as JSON `{"token", "webhook_secret"}`.
        live_exchange: The real exchange that live orders go to; empty for none.
        live_owner: The one user who may trade there: whose the key is.
        live_max_order: The most one live order may be worth, with its currency, such as `100 USDT`; empty for none.
        live_secret: ARN of a secret with the exchange's key, as JSON `{"apiKey", "secret"}`.
        live_key_file: File that holds the same, on a laptop.
        sandbox: Where programs run: `remote` (the sandbox function), or here in `wasm` or `bubblewrap`.
        sandbox_dir: What `make sandbox-warm` prepared.
        filter_profiles: JSON file that replaces the filter's tool profiles; empty takes those that ship.
        upstreams: JSON file of MCP servers to stand in front of, in the `mcpServers` form; empty for none.
        upstreams_secret: ARN of a secret that holds the same, for servers that need credentials.
        objects_bucket: Bucket of what is too large for a request; empty where `objects_folder` is used.
        objects_folder: Folder for the same on a laptop.
        objects_url: Where that folder is served.
        objects_key: What links into it are signed with.
        test_fixtures: Folder of the conformance fixtures; empty in every real installation.
    """

    stack: str = "satchel"
    database_url: str = ""
    database_secret: str = ""
    database_admin_url: str = ""
    database_admin_secret: str = ""
    encoder: str = "e5-small"
    model_dir: str = "/opt/satchel_models"
    issuer: str = ""
    jwks_url: str = ""
    resource_url: str = ""
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    request_state_keys: tuple[str, ...] = ()
    request_state_secret: str = ""
    llm: str = "none"
    llm_model: str = "claude-sonnet-5"
    anthropic_secret: str = ""
    agent_llm: str = "none"
    agent_model: str = "claude-sonnet-5"
    agent_user_models: tuple[str, ...] = ()
    agent_toolsets: tuple[str, ...] = ("default", "upstream")
    agent_max_calls: str = "12"
    agent_max_tokens: str = "400000"
    agent_max_usd: str = "1"
    agent_queue: str = ""
    socket_url: str = ""
    token_url: str = ""
    gateway_client: str = "satchel-gateway"
    gateway_key: str = ""
    gateway_secret: str = ""
    telegram_url: str = "https://api.telegram.org"
    telegram_token: str = ""
    telegram_webhook_secret: str = ""
    telegram_secret: str = ""
    live_exchange: str = ""
    live_owner: str = ""
    live_max_order: str = ""
    live_secret: str = ""
    live_key_file: str = ""
    sandbox: str = "remote"
    sandbox_dir: str = "~/.cache/satchel/sandbox"
    filter_profiles: str = ""
    upstreams: str = ""
    upstreams_secret: str = ""
    objects_bucket: str = ""
    objects_folder: str = ""
    objects_url: str = ""
    objects_key: str = ""
    test_fixtures: str = ""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> "Settings":
        """Read `SATCHEL_<NAME>` for every attribute; what is absent or empty keeps its default."""
        given: dict[str, str | tuple[str, ...]] = {}
        for name, default in cls.__dataclass_fields__.items():
            text = environment.get(f"SATCHEL_{name.upper()}", "").strip()
            if text:
                given[name] = _listed(text) if isinstance(default.default, tuple) else text
        return cls(**given)  # type: ignore[arg-type]


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
