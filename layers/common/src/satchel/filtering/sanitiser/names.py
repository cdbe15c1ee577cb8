"""What the name of a field, variable or header says about its value.

A name is split into words (`awsSecretAccessKey`, `AWS_SECRET_ACCESS_KEY` and `aws.secret-access-key` are the same four),
the last credential word decides the kind, and a word behind it that turns the value into something about the credential
(`token_type`, `password_reset_url`) clears it.
"""

from enum import Enum
from functools import lru_cache


class Kind(Enum):
    """What a value under such a name is likely to be."""

    PASSWORD = "password"
    SECRET = "secret"
    TOKEN = "token"
    KEY = "key"  # only a random-looking value counts
    AUTHORIZATION = "authorization"
    COOKIE = "cookie"
    PIN = "pin"
    PHRASE = "phrase"
    SSN = "ssn"
    PHONE = "phone"
    CARD = "card"
    RESIDENT_NUMBER = "resident-number"
    BANK_ACCOUNT = "bank-account"
    PASSPORT = "passport"


# What is personal and no credential.
PERSONAL = frozenset({Kind.SSN, Kind.PHONE, Kind.CARD, Kind.RESIDENT_NUMBER, Kind.BANK_ACCOUNT, Kind.PASSPORT})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PASSWORDS = _words(
    "password passwd passwort passphrase passcode pass pwd pw passwords pswd psw passwrd passe requirepass masterauth storepass keypass authtok senha contrasena "
    "contraseña psk kennwort wachtwoord parola пароль hasło mdp 비밀번호 암호 패스워드 密码 密碼 口令 パスワード"
)
_SECRETS = _words(
    "secret secrets credential credentials creds apikey apikeys accesskey secretkey privatekey accountkey authkey"
)
_TOKENS = _words("token bearer")
_KEY_LIKE = _words("auth jwt session sessionid sid phpsessid jsessionid pat sas sessid tokens")
_PINS = _words("pin cvv cvc cvv2 cvc2 csc otp totp pincode")
_PHONES = _words(
    "phone telephone mobile tel cell cellphone phonenumber mobilenumber msisdn fax whatsapp 전화번호 전화 휴대폰 휴대폰번호 휴대전화 핸드폰 핸드폰번호 연락처"
)
_RESIDENT_NUMBERS = _words("rrn 주민번호 주민등록번호 외국인등록번호")
_BANK_ACCOUNTS = _words("계좌 계좌번호")
_PASSPORTS = _words("passport passportnumber passportno 여권 여권번호")
_CARDS = _words("card pan cardnumber creditcard cc ccnum ccnumber")
# Glued to `pass` or `pw` they make a password: `sshpass`, `bindpw`; `compass` and `bypass` are words.
_WHOSE = _words(
    "user root admin db my sa ssh sudo become smtp mail ftp ldap bind store key trust win vnc pg mysql redis"
)
_GLUED = (
    ("password", Kind.PASSWORD), ("passwd", Kind.PASSWORD), ("passphrase", Kind.PASSWORD), ("apikey", Kind.SECRET),
    ("secretkey", Kind.SECRET), ("accesskey", Kind.SECRET), ("privatekey", Kind.SECRET), ("accountkey", Kind.SECRET),
    ("secret", Kind.SECRET), ("token", Kind.TOKEN),
)  # fmt: skip
# `<word> key` that is a credential whatever the value looks like.
_SECRET_KEYS = _words(
    "api access secret private account signing encryption decryption master auth app application shared service license "
    "security subscription write admin deploy storage integration consumer hmac server webhook encrypt authentication "
    "authorization client root jwt cipher aes deployment management ingest insert"
)
# `<word> key` that names a thing and opens nothing.
_PLAIN_KEYS = _words(
    "primary foreign sort partition cache object issue public hash range index unique composite natural surrogate group "
    "bucket schema row map dict idempotency idempotence dedup deduplication routing project parent item translation "
    "i18n message lookup search field column s3 registry config property event data metadata json block table join "
    "entity record document doc row storage_object file path lock mutex state session_key query filter facet option "
    "result response context setting label tag attribute ticket epic board space story page feature flag dedupe aggregation shard pub pk fk"
)
_ABOUT = _words(
    "id ids name names type types url uri urls endpoint file filename path paths dir directory length len size count "
    "counts expiry expires expire expired expiration ttl lifetime age policy policies field fields label placeholder hint "
    "rotation version arn ref reference references status state at date time timestamp enabled disabled required min max "
    "limit limits budget usage used cost price hash hashes hashed digest index scope scopes manager algorithm alg strength "
    "reset change changed changes changing update updated created format prefix suffix regex pattern rule rules validator "
    "input form box variable var env provider issuer audience store keystore bucket group owner per rate mode method "
    "location source from parameter class error errors message description title exists valid invalid verified present "
    "set missing seconds sec secs ms minutes hours days encoder encoding bits complexity checksum fingerprint thumbprint "
    "mapping map table column columns list page next is has need needs must should can will are were be been do does "
    "did not no or and in on for of by with to than when if review reviews count estimate lang language kind role "
    "permission permissions counter probability logprob logprobs ids_list embedding vocab parser spec config settings"
)
_ABOUT_BEFORE = _words(
    "max min num total prompt completion input output next prev previous page continuation pagination sync resume delta "
    "eos bos pad cls sep mask unk special used remaining show hide forgot forget change changing enable disable require "
    "requires idempotency idempotent lock no has is public design count per reasoning cached cursor stop start end reset"
)

_STAGES = _words(
    "prod production dev development staging stage test testing live main default primary secondary value string old new"
)


def split_words(name: str) -> list[str]:
    """Lower-case words of a name, split at punctuation, digits' edges excluded, and at camelCase humps."""
    words: list[str] = []
    start = 0
    for index, char in enumerate(name):
        if not char.isalnum():
            if start < index:
                words.append(name[start:index])
            start = index + 1
        elif index > start and char.isupper():
            follows_lower = not name[index - 1].isupper()
            ends_acronym = index + 1 < len(name) and name[index + 1].islower()
            if follows_lower or ends_acronym:
                words.append(name[start:index])
                start = index
    if start < len(name):
        words.append(name[start:])
    return [word.lower() for word in words]


def _kind_of_word(words: list[str], index: int) -> Kind | None:
    word = words[index].rstrip("0123456789") or words[index]
    if word[-1] in "는은이가를을" and word[:-1] in _PASSWORDS:  # Korean particles
        word = word[:-1]
    previous = words[index - 1] if index else ""
    if word in _PASSWORDS:
        return Kind.PASSWORD
    if word in _SECRETS:
        return Kind.SECRET
    if word in _TOKENS:
        return Kind.TOKEN
    if word in {"key", "keys"}:
        if previous in _SECRET_KEYS:
            return Kind.SECRET
        return Kind.KEY if previous and previous not in _PLAIN_KEYS else None
    if word == "id" and previous in {"session", "sess"}:
        return Kind.KEY
    if word in _KEY_LIKE:
        return Kind.KEY
    if word in {"authorization", "authorisation"}:
        return Kind.AUTHORIZATION
    if word in {"cookie", "cookies"}:
        return Kind.COOKIE
    if words[index] in _PINS or (
        word == "code" and previous in {"security", "verification", "mfa", "otp", "pin", "sms"}
    ):
        return Kind.PIN
    if word == "mnemonic" or (word in {"phrase", "words"} and previous in {"seed", "recovery", "backup", "secret"}):
        return Kind.PHRASE
    if word == "ssn" or (word == "security" and previous == "social"):
        return Kind.SSN
    if word in _PHONES:
        return Kind.PHONE
    if word in _CARDS:
        return Kind.CARD
    if word in _RESIDENT_NUMBERS or (word == "registration" and previous == "resident"):
        return Kind.RESIDENT_NUMBER
    if word in _BANK_ACCOUNTS:
        return Kind.BANK_ACCOUNT
    if word in _PASSPORTS:
        return Kind.PASSPORT
    if word == "material" and previous == "key":
        return Kind.PASSWORD
    for ending in ("pass", "pw", "pwd"):
        if word.endswith(ending) and word.removesuffix(ending) in _WHOSE:
            return Kind.PASSWORD
    for ending, kind in _GLUED:
        if len(word) <= 40 and word.endswith(ending):  # longer is no word
            return kind
    return None


@lru_cache(maxsize=8192)
def classify(name: str) -> Kind | None:
    """What a value under this name is likely to be; None where the name says nothing or clears it."""
    if len(name) > 120:  # no name is this long; a key that is a text is scanned as text
        return None
    words = split_words(name)
    for index in range(len(words) - 1, -1, -1):
        kind = _kind_of_word(words, index)
        if kind is None:
            continue
        behind = words[index + 1 :]
        before = words[:index]
        if kind in PERSONAL:
            return kind if not set(behind) - {"number", "no", "num", "nr", "home", "work", "1", "2"} else None
        if any(word in _ABOUT for word in behind) or before[-2:] == ["client", "request"]:  # makes a call repeatable
            return None
        if any(word in _ABOUT_BEFORE for word in before[-2:]) and kind is not Kind.PASSWORD:
            return None
        if words[index] in {"pass", "pw"} and behind:
            return None
        if kind is Kind.KEY and any(word not in _STAGES and not word.isdigit() for word in behind):
            return None
        return kind
    return None
