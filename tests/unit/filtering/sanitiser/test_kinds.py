"""Kinds of places where credentials stand, each with generated ones; and what stands in such places and is none."""

import base64
import json
import random
import string

import pytest

from satchel.filtering.sanitiser.sanitiser import Sanitiser

_SANITISER = Sanitiser()
_RANDOM = random.Random(29)
_PASSWORDS = ("Vellum-73-kite", "hunter2!", "Summer2024", "Tr0ub4dor&3", "S3cr3tPw!9", "kX9$mQ2@vL")


def generated(length: int, letters: str = string.ascii_letters + string.digits) -> str:
    return "".join(_RANDOM.choice(letters) for _ in range(length))


def encoded(length: int) -> str:
    return base64.b64encode(_RANDOM.randbytes(length)).decode()


_PASSWORD, _KEY, _HEX = "Vellum-73-kite", generated(32), generated(40, "0123456789abcdef")
_LINES = [encoded(48) for _ in range(5)]
_DIGITS = string.digits


def goes(text: str, *secrets: str) -> bool:
    """Whether none of the secrets is left, and a second time changes nothing."""
    cleaned = _SANITISER.sanitise_text(text).text
    assert _SANITISER.sanitise_text(cleaned).text == cleaned
    return not any(secret in cleaned for secret in secrets)


@pytest.mark.parametrize("column", ["password", "api_key", "token", "Client Secret", "userPasswd", "apiKey"])
@pytest.mark.parametrize("table", [
    "id,user,{c},mail\n1,bob,{a},x\n2,eve,{b},y\n",
    '"id","user","{c}"\r\n"1","bob","{a}"\r\n"2","e ""ve""","{b}"\r\n',
    "id;user;{c};mail\n1;bob;{a};x\n2;eve;{b};y",
    "id\t{c}\tuser\n1\t{a}\tbob\n2\t{b}\teve",
    "{c},user\n{a},bob\n{b},eve",
    "| id | {c} |\n|----|------|\n| 1 | {a} |\n| 2 | {b} |",
    " id | user | {c}\n----+------+-----\n  1 | bob  | {a}\n  2 | eve  | {b}\n(2 rows)",
    "+----+------+-----+\n| id | user | {c} |\n+----+------+-----+\n| 1 | bob | {a} |\n| 2 | eve | {b} |\n+----+",
    "NAME      {c}\nfirst     {a}\nsecond    {b}\n",
    "INSERT INTO users (id, name, {c}) VALUES (1, 'O''Hara', '{a}'),\n (2, 'eve', '{b}');",
])  # fmt: skip
def test_the_header_of_a_table_tells_about_its_cells(table: str, column: str) -> None:
    first, second = ("Vellum73kite", "marigoldpier9") if "assw" in column else (generated(28), generated(28))
    assert goes(table.format(c=column, a=first, b=second), first, second)


@pytest.mark.parametrize("text", [
    "apt\tbase-passwd\t3.6.7\napt\tbash\t5.2.37\n",
    "name,passed,token count\nfirst,12,9000\nsecond,13,8000",
    "Choose a name, a password, then press return\nand wait, the page, then reloads",
    "r'(enter|pass|fail|ok|'\nr'lookup|hash|miss|error|'",
    "(user, password) = creds\nself.check(a, b), fine",
    "| id | password |\n|----|----------|\n| 1 | [REDACTED] |\n| 2 | ******** |",
    "password,user\n",
    "INSERT INTO t (id, password_hash_type) VALUES (1, 'argon2id')",
])  # fmt: skip
def test_what_only_looks_like_a_table_stays(text: str) -> None:
    assert _SANITISER.sanitise_text(text).text == text


@pytest.mark.parametrize("line", [
    "net user backup {} /add", "net user administrator {}", r"net use Z: \\srv\share {} /user:CORP\bob",
    r"net use \\10.0.0.5\c$ /user:admin {}", "curl -u bob:{} https://x.example", "curl -ubob:{} x", "curl -U bob:{} x",
    "curl --proxy-user bob:{} x", "wget --http-password={} x", "sshpass -p {} ssh u@h", "sshpass -p'{}' ssh u@h",
    "SSHPASS={} sshpass -e ssh h", "mysql -u root -p{} db", "mysqldump -h h -u root -p'{}' db > x", "PGPASSWORD={} psql",
    "mongosh -u a -p {} --quiet", "redis-cli -h h -a {} ping", "docker login -u bob -p {} r.example", "az login -u bob -p {}",
    "ldapsearch -x -D cn=admin -w {} -b dc=x", "smbclient //h/s -U bob%{}", "evil-winrm -i h -u bob -p {}",
    r"PsExec.exe \\h -u CORP\bob -p {} cmd", "xfreerdp /u:bob /p:{} /v:h", "openssl enc -aes-256-cbc -k {} -in x",
    "openssl rsa -passin pass:{} -in k", "keytool -storepass {} -list", "keytool -genkey -keypass {}", "zip -P {} x.zip f",
    "echo {} | sudo -S ls", 'echo "bob:{}" | chpasswd', "htpasswd -b file bob {}", "htpasswd -nb bob {}", "lftp -u bob,{} h",
    "secretsdump.py CORP/bob:{}@10.0.0.1", "schtasks /create /ru bob /rp {}", "sqlcmd -S h -U sa -P {}", "bcp t out f -U sa -P {}",
    "mosquitto_pub -h h -u bob -P {} -t x", "ipmitool -H h -U root -P {} power status", "wpa_passphrase MyNet {}",
    "nmcli dev wifi connect MyNet password {}", "plink -pw {} u@h", "twine upload -u bob -p {} dist/*", "useradd -p {} bob",
    "sqlplus scott/{}@orcl", "sqlplus -s system/{}@//h:1521/XE", "CREATE USER bob IDENTIFIED BY {};",
    "CREATE USER bob IDENTIFIED BY '{}';", 'GRANT ALL ON *.* TO "u"@"h" IDENTIFIED BY "{}"', "ALTER USER bob WITH PASSWORD '{}'",
    'ConvertTo-SecureString "{}" -AsPlainText -Force', "ConvertTo-SecureString -String '{}' -AsPlainText -Force",
    "$p = ConvertTo-SecureString {} -AsPlainText -Force", "ConvertTo-SecureString -AsPlainText '{}' -Force",
    "New-Object System.Net.NetworkCredential('bob','{}')", "ftp h\nuser bob {}\nput x\n", "http -a bob:{} GET x",
    "snmpwalk -v2c -c {} 10.0.0.1", "snmpget -v3 -u bob -l authPriv -a SHA -A {} 10.0.0.1", "mount -o username=u,password={} x",
    "kubectl create secret generic s --from-literal=password={}", "svn co --username u --password {} x",
])  # fmt: skip
def test_a_password_on_a_command_line_goes(line: str) -> None:
    assert goes(line.format("Vellum-73kite"), "Vellum-73kite")


@pytest.mark.parametrize("line", [
    "net user growth slowed down", "net use of water fell", "cp -p source target", "docker run -p 8080:80 image", "ssh -p 2222 host",
    "scp -P 2222 a b", "tar -xzf a.tgz -C dir", "python -c 'print(1)'", "grep -w word file", "curl -u $USER:$PASS x",
    "the item identified by `key` is removed", "the item identified by INDEX is removed", "echo done | sudo tee file",
    "u = A[:k-1, :k-1]; v = -U[:k-1, k-1]", "vault login -method=oidc", "ConvertTo-SecureString $plain -AsPlainText -Force",
    "mysql -u root -p", "mysql -uroot -p$MYSQL_PWD db", "learned to pass --force-with-lease to it", "Pass::Base is a member",
    "enable password encryption on the switch", "community guidelines apply", "username and password are needed",
])  # fmt: skip
def test_a_command_without_a_password_stays(line: str) -> None:
    assert _SANITISER.sanitise_text(line).text == line


@pytest.mark.parametrize("line", [
    "snmp-server community {} RO", "snmp-server community {} RW 10", "rocommunity {} 10.0.0.0/8", "rwcommunity {}",
    "com2sec readonly default {}", "snmp community: {}", "createUser bob SHA {} AES", "enable secret {}", "enable secret 0 {}",
    "enable password level 15 {}", "username admin privilege 15 secret {}", "username admin password 0 {}",
    "line vty 0 4\n password {}\n login", "tacacs-server key 7 {}", "radius-server host 10.0.0.1 key {}",
    "crypto isakmp key {} address 10.0.0.1", "pre-shared-key {}", 'pre-shared-key ascii-text "{}"', "neighbor 10.0.0.1 password 7 {}",
    "ip ospf message-digest-key 1 md5 {}", "ip ospf authentication-key {}", "ntp authentication-key 1 md5 {}",
    "standby 1 authentication {}", "key-string 7 {}", "ppp chap password 0 {}", "set psksecret ENC {}", "wpa-psk ascii 0 {}",
    'psk="{}"', "psk={}", "wpa_passphrase={}", "<keyMaterial>{}</keyMaterial>", "rootpw {}", "bindpw {}", "requirepass {}",
    "ldap_default_authtok = {}", "password 7 {}",
])  # fmt: skip
def test_a_password_of_a_device_goes(line: str) -> None:
    assert goes(line.format("0822455D0A16544541"), "0822455D0A16544541")


@pytest.mark.parametrize("name", ["password", "apiKey", "ClientSecret", "authToken", "db.password", "encryptionKey"])
@pytest.mark.parametrize("form", [
    "<{n}>{}</{n}>", "<{n}>\n  {}\n</{n}>", '<cfg a="1" {n}="{}" b="2"/>', "<cfg {n}='{}'/>", '<ns:{n} type="string">{}</ns:{n}>',
    '<add key="{n}" value="{}" />', '<add name="{n}" provider="x" value="{}"/>', '<param value="{}" type="text" name="{n}"/>',
    '<property name="{n}">{}</property>', "<property>\n <name>{n}</name>\n <value>{}</value>\n</property>",
    "<key>{n}</key>\n<string>{}</string>", "{n}: {}\nport: 1", "- {n}: '{}'", "{n}: {} # comment", "{n}: |\n  {}\nnext: 1",
    "{n}:\n  {}\n", "{n}: !!str {}", "{n}: &anchor {}", "{n}:\n  value: {}\n", "{n}:\n  - {}\n", "env:\n- name: {n}\n  value: {}\n",
    "{{host: x, {n}: {}, port: 1}}", 'variable "{n}" {{\n  type = string\n  default = "{}"\n}}', '{n} = "{}"', "[x]\n{n} = {}\n",
    'set {{\n name = "{n}"\n value = "{}"\n}}', "-D{n}={}", '"{n}" => "{}"', "{n} := `{}`", "export {n}={}", "{n}%3D{}%26x%3D1",
])  # fmt: skip
def test_a_named_value_goes_from_markup_and_configuration(form: str, name: str) -> None:
    secret = "Vellum73kite" if "ass" in name else generated(30)
    assert goes(form.replace("{n}", name).replace("{}", secret).replace("{{", "{").replace("}}", "}"), secret)


@pytest.mark.parametrize("line", [
    "jdbc:mysql://h:3306/db?user=root&password={}", "jdbc:sqlserver://h:1433;databaseName=d;user=sa;password={};encrypt=true",
    "jdbc:oracle:thin:scott/{}@//h:1521/orcl", "jdbc:oracle:thin:scott/{}@h:1521:orcl", "Server=h;Database=d;User Id=sa;Password={};",
    "Driver={SQL Server};Server=h;Uid=u;Pwd={}", "host=h user=u password={} dbname=d", "root:{}@tcp(127.0.0.1:3306)/db",
    "root:{}@unix(/tmp/mysql.sock)/db", "amqp://guest:{}@mq:5672/", "redis://:{}@r:6379/0", "mongodb+srv://u:{}@c.example/db",
    "r:6379,password={},ssl=True", "db.example:6543:app_db:app:{}", "*:*:*:app:{}", "machine h.example login bob password {}",
    "machine h.example\n  login bob\n  password {}\n", "DRIVER%3D%7BODBC%7D%3BPWD%3D{}%3B", "https://bob:{}@git.example/r.git",
])  # fmt: skip
def test_a_password_in_a_connection_string_goes(line: str) -> None:
    assert goes(line.replace("{}", _PASSWORD), _PASSWORD)


@pytest.mark.parametrize("line", [
    "Authorization: Bearer {}", "Authorization: GenieKey {}", "Authorization: SSWS {}", "Authorization: Token token={}",
    "authorization=Zoho-oauthtoken {}", "Authorization: {}", "X-Api-Key: {}", "X-Vault-Token: {}", "PRIVATE-TOKEN: {}",
    "Ocp-Apim-Subscription-Key: {}", "DD-API-KEY: {}", "-H 'x-functions-key: {}'", 'headers["X-Api-Key"] = "{}"',
    "Cookie: theme=dark; session={}", "Set-Cookie: connect.sid={}; Path=/; HttpOnly", "Sec-WebSocket-Protocol: bearer.{}",
    'Authorization: Digest username="bob", realm="x", nonce="ab", response="{}"', 'Authorization: Hawk id="d", mac="{}"',
    'Authorization: OAuth oauth_consumer_key="x", oauth_token="{}"', "CB-ACCESS-PASSPHRASE: {}", "Proxy-Authorization: Bearer {}",
])  # fmt: skip
def test_a_credential_in_a_header_goes(line: str) -> None:
    assert goes(line.replace("{}", _HEX), _HEX)


@pytest.mark.parametrize("token", [
    f"xoxb-{generated(12, _DIGITS)}-{generated(13, _DIGITS)}-{generated(24)}", f"xoxb-{generated(12, _DIGITS)}-{generated(24)}",
    f"xoxb-{generated(40)}", f"xoxp-{'-'.join(generated(11, _DIGITS) for _ in range(3))}-{_HEX[:32]}",
    f"xoxp-{'-'.join(generated(10, _DIGITS) for _ in range(3))}-{_HEX[:6]}", f"xoxa-2-{generated(11, _DIGITS)}-{generated(30)}",
    f"xoxe-1-{generated(146)}", f"xoxe.xoxp-1-{generated(163)}", f"xoxd-{generated(40)}%2B{generated(40)}%3D",
    f"xwfp-{generated(12, _DIGITS)}-{generated(30)}", f"xapp-1-A{generated(10, string.ascii_uppercase)}-{generated(13, _DIGITS)}-{_HEX}",
    f"{{AQAAABAAAAAg{generated(60)}=}}", f"$krb5tgs$23$*svc$CORP$x*${_HEX[:32]}${_HEX * 3}", f"$9${generated(14)}${generated(43)}",
    f"pbkdf2_sha256$260000${generated(22)}${encoded(32)}", f"SCRAM-SHA-256$4096:{encoded(16)}${encoded(32)}:{encoded(32)}",
    f"https://hooks.zapier.com/hooks/catch/{generated(7, _DIGITS)}/{generated(7, 'abcdefg012')}",
    f"https://maker.ifttt.com/trigger/x/with/key/{generated(22)}", f"https://chat.example/hooks/{generated(26, 'abcdefgh0123')}",
    f"https://api.telegram.org/bot{generated(10, '123456789')}:AA{generated(33)}/sendMessage",
    f"https://outlook.office.com/webhook/{_HEX}@{_HEX}/IncomingWebhook/{_HEX[:32]}/{_HEX}",
    "https://open.feishu.cn/open-apis/bot/v2/hook/7d9f1c3a-52b8-4e6f-9a01-3cde48b7f215",
    f"SharedAccessSignature sr=x&sig={generated(43)}%3D&se=1&skn=k", f"npm_{generated(35)}7", f"dckr_pat_{generated(27)}",
])  # fmt: skip
@pytest.mark.parametrize("around", ["use {} for now", '{{"t": "{}"}}', "TOKEN={}\n"])
def test_a_token_with_a_shape_of_its_own_goes(around: str, token: str) -> None:
    secret = max(token.replace("/", " ").replace("=", " ").replace(":", " ").split(), key=len)
    assert goes(around.replace("{}", token).replace("{{", "{").replace("}}", "}"), secret[-20:])


@pytest.mark.parametrize("text", [
    "xoxb-your-bot-token", "xoxb-xxxxxxxxxxxx-xxxxxxxxxxxx", "xoxb-token-goes-here", "https://hooks.zapier.com/hooks/catch/your/hook",
    "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", "https://chat.example/hooks/list",
    "https://api.telegram.org/bot<token>/sendMessage", "12:30:45:started:worker", "root:x:0:0:root:/root:/bin/bash",
    "C::parse(x):::next", "password: ${DB_PASSWORD}", "token = get_token()", "api_key: your-api-key-here", "password: <password>",
    "sha512-KsBw2tecNtfLc3nudWtIR2HxiCEwF1CIsfs9lKsYPrR505zgMduqqopU0oL7BLiZNaZHhi1aMExycOV7IcI+5g==",
    "commit a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", '#define SSL_TXT_PSK "PSK"', "GL_STENCIL_PASS_DEPTH_PASS 0x0B96",
    "find_password('Some Realm')", "generate_private_key('Ed25519')", "lock_token: 7d9f1c3a-52b8-4e6f-9a01-3cde48b7f215",
    '<input type="password" name="password" placeholder="Password"/>', '<param name="password" value=""/>',
    'variable "db_password" {\n  type = string\n}\noutput "x" {\n  value = "plain"\n}', "password:\n  - must be long\n",
    "kind: Secret\nmetadata:\n  name: db\n", "kind: ConfigMap\ndata:\n  color: blue7\n",
])  # fmt: skip
def test_what_is_no_credential_stays(text: str) -> None:
    assert _SANITISER.sanitise_text(text).text == text


@pytest.mark.parametrize(
    "name", ["RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
@pytest.mark.parametrize("join", ["\n", "\r\n", " ", "\\n", "\n    ", "\n> ", "\n// ", '" +\n"', "\\n' +\n'"])
@pytest.mark.parametrize("is_cut", [False, True])
def test_a_private_key_goes_in_every_wrapping(name: str, join: str, *, is_cut: bool) -> None:
    heads = ["Version: GnuPG v2", ""] if name.startswith("PGP") and join.strip(" ") in {"\n", "\r\n"} else []
    text = join.join([f"-----BEGIN {name}-----", *heads, *_LINES, *([] if is_cut else [f"-----END {name}-----"])])
    assert goes(f"before {text}", *_LINES)


@pytest.mark.parametrize("text", [
    "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nComment: x\n{}\n---- END SSH2 ENCRYPTED PRIVATE KEY ----",
    "-----BEGIN OpenVPN Static key V1-----\n{}\n-----END OpenVPN Static key V1-----",
    "<RSAKeyValue><Modulus>x</Modulus><D>{}</D></RSAKeyValue>", "PrivateKey = {}=\n", "client-key-data: {}",
])  # fmt: skip
def test_other_forms_of_private_keys_go(text: str) -> None:
    key = (
        base64.b64encode(b"-----BEGIN RSA PRIVATE KEY-----\n" + _LINES[0].encode()).decode()
        if "data" in text
        else encoded(33)
    )
    assert goes(text.replace("{}", key), key)


def test_the_private_parts_of_a_web_key_go_and_the_public_ones_stay() -> None:
    private, public = generated(43), generated(43)
    key = {"kty": "EC", "crv": "P-256", "x": public, "d": private}
    for value in (key, json.dumps(key), "key = " + json.dumps(key)):
        cleaned = json.dumps(_SANITISER.sanitise(value).value)
        assert private not in cleaned
        assert public in cleaned


def test_the_fields_of_a_kubernetes_secret_go() -> None:
    secret = base64.b64encode(generated(20).encode()).decode()
    document = {"kind": "Secret", "metadata": {"name": "db-main"}, "data": {"dsn-main": secret, "username": "YWRtaW4="}}
    cleaned = _SANITISER.sanitise(document).value
    assert cleaned["data"] == {"dsn-main": "[REDACTED]", "username": "YWRtaW4="}
    assert cleaned["metadata"] == {"name": "db-main"}
    assert goes(
        f"apiVersion: v1\nkind: Secret\ndata:\n  user: YWRtaW4=\n  dsn-main: {secret}\n---\nkind: Pod\n", secret
    )


def test_a_docker_configuration_and_a_windows_dump_go() -> None:
    basic = base64.b64encode(b"bob:Vellum-73-kite").decode()
    assert goes(json.dumps({"auths": {"r.example": {"auth": basic}}}), basic)
    assert goes('{"auths": {"r.example": {\n\t"auth": "' + basic + '"}}} # copied', basic)
    assert goes(f"Administrator:500:{_HEX[:32]}:{_HEX[8:40]}:::", _HEX[:32], _HEX[8:40])


@pytest.mark.parametrize("password", _PASSWORDS)
def test_no_character_of_a_password_is_left_beside_its_redaction(password: str) -> None:
    for form in ('{"login": {"password": %s}}', "{'password': %s}", "password=%s;", "user,password\nbob,%s\n"):
        text = form % (json.dumps(password) if form.startswith("{") else password)
        cleaned = _SANITISER.sanitise_text(text).text
        assert not any(password[at : at + 4] in cleaned for at in range(len(password) - 3))
