"""The shapes of tokens that give themselves away: our own rules, beside gitleaks' (see `token_rules`)."""

import base64
import binascii
import json
from collections.abc import Callable
from itertools import pairwise

from satchel.filtering.sanitiser import values


def _decoded_start(data: bytes) -> bytes:
    padded = data.replace(b"-", b"+").replace(b"_", b"/")
    padded += b"=" * (-len(padded) % 4)
    try:
        return base64.b64decode(padded)
    except (binascii.Error, ValueError):
        return b""


def _is_jwt(token: bytes) -> bool:
    try:
        header = json.loads(_decoded_start(token.split(b".", 1)[0].replace(b"\\", b"")))
    except (ValueError, RecursionError):
        return False
    return isinstance(header, dict)


def _is_discord(token: bytes) -> bool:
    return _decoded_start(token.split(b".", 1)[0]).isdigit()


def _mixes_letters(token: bytes) -> bool:
    """For tokens that may be of letters alone: cases change more often than in words."""
    tail = token.decode("latin-1").rpartition("_")[2]
    changes = sum(left.islower() != right.islower() for left, right in pairwise(tail))
    return changes >= len(tail) / 5


def _is_random(token: bytes) -> bool:
    text = token.decode("latin-1")
    tail = max(text.replace("-", "_").replace(".", "_").split("_"), key=len)
    return values.looks_random(tail, at_least=12)


def is_mixed(token: bytes) -> bool:
    """Whether a token has a digit behind its opening and enough variety."""
    return any(48 <= byte <= 57 for byte in token[4:]) and values.entropy(token.decode("latin-1")) >= 3


def _is_slack(token: bytes) -> bool:
    """Numbers and something random, or one random run: `xoxb-<team>-<bot>-<random>` and its kin."""
    text = token[:400].decode("latin-1")
    parts = text.split("-")[1:]
    numbers = [part for part in parts if part.isdigit() and len(part) >= 8]
    if len(numbers) >= 2:
        return len(parts) > len(numbers) and len(parts[-1]) >= 6
    return values.looks_random(max(parts, key=len), at_least=10) and values.entropy(text) >= 3.2


def _mixes_cases(token: bytes) -> bool:
    tail = token.split(b".", 1)[1]
    return tail != tail.lower() and tail != tail.upper() and any(48 <= byte <= 57 for byte in tail)


Check = Callable[[bytes], bool]

# (id, opening, whole token, what a match must pass besides). The opening is what the union looks for: short enough to be
# cheap, long enough to be rare. A token goes on as far as its last class does, so that a longer one leaves no tail.
SHAPES: tuple[tuple[str, bytes, bytes, Check | None], ...] = (
    ("aws-access-key-id", rb"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{8}", rb"A(?:KIA|SIA|BIA|CCA|3T[A-Z0-9])[A-Z0-9]{16}", is_mixed),
    ("aws-session-token", rb"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)", rb"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz|FQoGZXIvYXdz)[A-Za-z0-9+/=%_-]{40,}", None),
    ("jwt", rb"ey[A-Za-z0-9]{12}", rb"ey[\w-]{12,}\.ey[\w\\/-]{12,}(?:\.[\w\\/+-]*={0,2})?", _is_jwt),
    ("jwe", rb"ey[A-Za-z0-9]{12}", rb"ey[\w-]{16,}\.[\w-]*\.[\w-]{10,}\.[\w-]{16,}\.[\w-]{10,}", _is_jwt),
    ("jwt", rb"ZXlK[A-Za-z0-9]{12}", rb"ZXlK[A-Za-z0-9+/_-]{40,}={0,2}", None),
    ("github-token", rb"gh[pousr]_[A-Za-z0-9]{8}", rb"gh[pousr]_[A-Za-z0-9]{36,255}", is_mixed),
    ("github-fine-grained-pat", rb"github_pat_", rb"github_pat_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{50,}", None),
    ("gitlab-token", rb"gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt|ffct)-", rb"gl(?:pat|ptt|dt|rt|cbt|ft|oas|soat|agent|imt|ffct)-[\w-]{20,}(?:\.[0-9a-z]{2}\.[0-9a-z]{9}|\.[0-9a-z]{9})?", None),
    ("slack-token", rb"x(?:ox[a-z]|wfp)[.-]", rb"(?:xox[a-z](?:\.xox[a-z])?|xwfp)-[A-Za-z0-9%+/=_-]{10,}", _is_slack),
    ("jenkins-secret", rb"\{AQAAAB", rb"\{AQAAAB[A-Za-z0-9+/=]{16,}\}", None),
    ("slack-app-token", rb"xapp-", rb"xapp-\d-[A-Z0-9]{6,}-\d{6,}-[a-zA-Z0-9]{20,}", None),
    ("slack-webhook", rb"(?:https?://)?hooks\.slack(?:-gov)?\.com/", rb"(?:https?://)?hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/_-]{30,}", None),
    ("openai-key", rb"sk-[A-Za-z0-9_-]{8}", rb"sk-(?:[a-z]{2,10}(?:-[a-z]{1,4}\d{0,2})?-)?[A-Za-z0-9_-]{20,}", _is_random),
    ("stripe-key", rb"[srp]k_(?:live|test|prod)_", rb"[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}", None),
    ("stripe-webhook-secret", rb"whsec_", rb"whsec_[A-Za-z0-9+/=]{24,}", None),
    ("twilio-api-key", rb"SK[0-9a-f]{12}", rb"SK[0-9a-f]{32}", None),
    ("sendgrid-key", rb"SG\.[\w-]{12}", rb"SG\.[\w-]{16,32}\.[\w-]{16,64}", None),
    ("google-oauth-secret", rb"GOCSPX-", rb"GOCSPX-[\w-]{24,}", None),
    ("google-oauth-token", rb"ya29\.[\w-]{8}", rb"ya29\.[\w-]{30,}", None),
    ("google-refresh-token", rb"1//0[\w-]{10}", rb"1//0[\w-]{40,}", _is_random),
    ("anthropic-key", rb"sk-ant-", rb"sk-ant-[a-z0-9]{3,10}-[\w-]{40,}", None),
    ("huggingface-token", rb"(?:hf|api_org)_[A-Za-z0-9]{8}", rb"(?:hf|api_org)_[A-Za-z0-9]{34,40}", _mixes_letters),
    ("npm-token", rb"npm_[A-Za-z0-9]{8}", rb"npm_[A-Za-z0-9]{36}", is_mixed),
    ("pypi-token", rb"pypi-Ag[A-Za-z0-9]{4}", rb"pypi-Ag(?:EIcHlwaS5vcmc|ENdGVzdC5weXBpLm9yZw)[\w-]{70,}", None),
    ("atlassian-token", rb"AT[AC]TT3", rb"AT[AC]TT3[\w=-]{60,}", None),
    ("mailgun-key", rb"(?:key|pubkey)-[0-9a-f]{12}", rb"key-[0-9a-f]{32}", None),
    ("vault-token", rb"(?:hv[sbr]\.[\w-]{8}|s\.[A-Za-z0-9]{20})", rb"(?:hv[sbr]\.[\w-]{24,}|s\.[A-Za-z0-9]{24})", _mixes_cases),
    ("new-relic-key", rb"NR(?:AK|II|RA|JS|BR|AL|SP)-", rb"NR(?:AK|II|RA|JS|BR|AL|SP)-[A-Za-z0-9]{19,}", None),
    ("notion-token", rb"(?:ntn_[0-9]{4}|secret_[A-Za-z0-9]{20})", rb"(?:ntn_[0-9]{11}[A-Za-z0-9]{30,}|secret_[A-Za-z0-9]{43})", None),
    ("dockerhub-pat", rb"dckr_", rb"dckr_(?:pat|oat)_[\w-]{24,}", None),
    ("supabase-key", rb"sb[pst]_[A-Za-z0-9]{8}|sb_(?:secret|publishable)_", rb"sbp_[a-f0-9]{40}|sb_secret_[\w-]{20,}", None),
    ("sentry-token", rb"sntry[su]_", rb"sntry[su]_[A-Za-z0-9+/_=-]{40,}", None),
    ("age-secret-key", rb"(?i:AGE-SECRET-KEY-1)", rb"(?i:AGE-SECRET-KEY-1)[0-9A-Za-z]{58}", None),
    ("square-token", rb"(?:sq0[a-z]{3}-|EAAA[\w-]{20})", rb"(?:sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{56,60})", is_mixed),
    ("mapbox-secret", rb"sk\.ey[A-Za-z0-9]{8}", rb"sk\.ey[\w-]{20,}\.[\w-]{20,}", None),
    ("twitter-bearer", rb"A{20}[A-Za-z0-9%]{8}", rb"A{20,}[A-Za-z0-9%]{60,}", is_mixed),
    ("openshift-token", rb"sha256~[\w-]{8}", rb"sha256~[\w-]{43}", _is_random),
    ("azure-devops-or-octopus", rb"API-[A-Z0-9]{24}", rb"API-[A-Z0-9]{25,34}", is_mixed),
    ("cloudflare-origin-ca-key", rb"v1\.0-[a-f0-9]{16}", rb"v1\.0-[a-f0-9]{24}-[a-f0-9]{146}", None),
    ("nuget-key", rb"oy2[a-z0-9]{20}", rb"oy2[a-z0-9]{43}", is_mixed),
    ("groq-key", rb"gsk_[A-Za-z0-9]{12}", rb"gsk_[A-Za-z0-9]{40,}", None),
    ("xai-key", rb"xai-[A-Za-z0-9]{12}", rb"xai-[A-Za-z0-9]{60,}", None),
    ("tailscale-key", rb"tskey-", rb"tskey-[a-z]{2,12}-[\w-]{16,}", None),
    ("replicate-token", rb"r8_[A-Za-z0-9]{12}", rb"r8_[A-Za-z0-9]{36,}", None),
    ("resend-key", rb"re_[A-Za-z0-9]{8}_", rb"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", None),
    ("langsmith-key", rb"lsv2_", rb"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}", None),
    ("figma-token", rb"fig[dou]_", rb"fig[dou]_[\w-]{36,}", None),
    ("buildkite-token", rb"bk(?:ua|aa|t|ct)_[a-f0-9]{8}", rb"bk(?:ua|aa|t|ct)_[a-f0-9]{40}", None),
    ("sonar-token", rb"sq[apu]_[a-f0-9]{8}", rb"sq[apu]_[a-f0-9]{40}", None),
    ("dropbox-token", rb"sl\.(?:u\.)?[\w-]{12}", rb"sl\.(?:u\.)?[\w-]{100,}", _is_random),
    ("nvidia-key", rb"nvapi-", rb"nvapi-[\w-]{50,}", None),
    ("pinecone-key", rb"pcsk_", rb"pcsk_[\w-]{40,}", None),
    ("sourcegraph-token", rb"sg[pdm]_[A-Za-z0-9]{5}", rb"sg[pdm]_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40}", is_mixed),
    ("databricks-token", rb"dapi[0-9a-f]{12}", rb"dapi[0-9a-f]{32}(?:-\d)?", None),
    ("doppler-token", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.", rb"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}", None),
    ("dynatrace-token", rb"dt0[a-z]\d\d\.", rb"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}", None),
    ("password-hash", rb"\$(?:2[abxy]|argon2(?:id|i|d)|[15689y]|apr1|scrypt|pbkdf2[\w-]*|krb5\w{2,6})\$[\w=./,$*@-]{8}|pbkdf2_sha\d+\$\d+\$|SCRAM-SHA-\d+\$", rb"\$(?:2[abxy]|argon2(?:id|i|d)|[15689y]|apr1|scrypt|pbkdf2[\w-]*|krb5\w{2,6})\$[\w=./+,$*@-]{22,}|pbkdf2_sha\d+\$\d+\$[\w+/=$]{22,}|SCRAM-SHA-\d+\$\d+:[\w+/=$:]{40,}", None),
)  # fmt: skip

_WHAT = rb"(?:live|test|prod|pat|sk|tkn|token|secret|key|api|oauth|priv|pw|at|rt|svc|admin|user|access|refresh)[_-]"
# The same for tokens whose letters to look for stand in the middle: the whole is searched from 40 bytes before.
MIDDLES: tuple[tuple[str, bytes, bytes, Check | None], ...] = (
    ("telegram-bot-token", rb"\d:A[\w-]{12}", rb"(?:bot)?\d{6,12}:A[\w-]{33,35}", is_mixed),
    ("discord-bot-token", rb"\.[\w-]{6}\.[\w-]{8}", rb"[MNO][A-Za-z0-9_-]{20,27}\.[\w-]{6}\.[\w-]{27,45}", _is_discord),
    ("azure-client-secret", rb"\dQ~[A-Za-z0-9_~.-]{8}", rb"[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}", is_mixed),
    ("new-relic-key", rb"[a-f0-9]{4}NRAL", rb"[a-f0-9]{36}NRAL", None),
    ("terraform-token", rb"\.atlasv1\.", rb"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}", None),
    ("maxmind-key", rb"_mmk", rb"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk", None),
    ("mailchimp-key", rb"[0-9a-f]-us\d", rb"[0-9a-f]{32}-us\d{1,2}", None),
    ("facebook-token", rb"\d(?:\||%7C)[\w-]{10}", rb"\d{13,16}(?:\||%7C)[\w-]{27,40}", is_mixed),
    ("airtable-pat", rb"\.[a-f0-9]{16}", rb"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}", None),
    ("harness-key", rb"[ps]at\.[\w-]{12}", rb"(?:pat|sat)\.[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}", None),
    ("discord-webhook", rb"discord(?:app)?\.com/api/webhooks/", rb"(?:https?://)?(?:[a-z]{2,10}\.)?discord(?:app)?\.com/api/webhooks/\d{10,}/[\w-]{30,}", None),
    ("teams-webhook", rb"\.webhook\.office\.com/", rb"https://[a-z0-9-]{1,30}\.webhook\.office\.com/webhookb2/[\w@/-]{60,}", None),
    # Vendors nobody has listed yet name their tokens alike: `<vendor>_<what>_<random>`.
    ("prefixed-token", rb"[_-]" + _WHAT + rb"[A-Za-z0-9]{6}",
     rb"[A-Za-z][A-Za-z0-9]{1,14}[_-]" + _WHAT + rb"(?:[a-z]{2,8}[_-])?(?:v\d[_-])?[A-Za-z0-9]{20,}", _is_random),
)  # fmt: skip
