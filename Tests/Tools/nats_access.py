"""Writes what a NATS server and its users need to prove themselves, for BridgeTests.

usage: nats_access.py keys|certificates DIRECTORY
keys: an NKey, and an operator with an account and three users: one whose JWT is valid, one whose JWT
has expired, and one of another account's key. certificates: an authority, and certificates of
localhost: valid, expired, of another name, of an address, and of another authority.
"""
import base64
import json
import os
import subprocess
import sys
import time

from nacl.signing import SigningKey

DIRECTORY = sys.argv[2]
OPERATOR, ACCOUNT, USER = 14 << 3, 0, 20 << 3


def path(name):
    return os.path.join(DIRECTORY, name)


def write(name, text):
    with open(path(name), "w") as file:
        file.write(text)


# NKeys: a prefix, 32 bytes and a CRC-16, in base 32. A seed's prefix holds its kind's too.


def crc16(data):
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
    return (crc & 0xFFFF).to_bytes(2, "little")


def base32(data):
    return base64.b32encode(data + crc16(data)).decode().rstrip("=")


class Key:
    def __init__(self, kind):
        self.key = SigningKey.generate()
        seed = 18 << 3
        self.seed = base32(bytes([seed | kind >> 5, (kind & 31) << 3]) + bytes(self.key))
        self.public = base32(bytes([kind]) + bytes(self.key.verify_key))


def url64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(issuer, subject, name, claims, expires=None):
    body = {"jti": name, "iat": int(time.time()), "iss": issuer.public, "name": name}
    body.update({"sub": subject.public, "nats": claims | {"version": 2}})
    if expires is not None:
        body["exp"] = expires
    head = {"typ": "JWT", "alg": "ed25519-nkey"}
    text = ".".join(url64(json.dumps(part).encode()) for part in (head, body))
    return text + "." + url64(issuer.key.sign(text.encode()).signature)


def credential(token, user):
    return (
        f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed}\n------END USER NKEY SEED------\n"
    )


def keys():
    user = Key(USER)
    write("user.seed", user.seed)
    write("user.public", user.public)
    other = Key(USER)
    write("other.seed", other.seed)
    write("other.public", other.public)
    operator, account, system, stranger = Key(OPERATOR), Key(ACCOUNT), Key(ACCOUNT), Key(ACCOUNT)
    limits = {"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "conn": -1}
    limits |= {"leaf": -1, "wildcards": True, "mem_storage": -1, "disk_storage": -1}
    limits |= {"streams": -1, "consumer": -1}
    accounts = {
        key.public: jwt(operator, key, name, {"type": "account", "limits": limits if has else {
            "subs": -1, "data": -1, "payload": -1, "conn": -1}})
        for key, name, has in ((account, "a", True), (system, "sys", False))
    }
    preload = "\n".join(f"  {key}: {value}" for key, value in accounts.items())
    claims = {"type": "operator", "system_account": system.public}
    write(
        "operator.conf",
        f"operator: {jwt(operator, operator, 'o', claims)}\nsystem_account: {system.public}\n"
        f"resolver: MEMORY\nresolver_preload {{\n{preload}\n}}\n",
    )
    users = {"subs": -1, "data": -1, "payload": -1, "type": "user"}
    for name, issuer, expires in (
        ("valid", account, None),
        ("expired", account, int(time.time()) - 60),
        ("stranger", stranger, None),
    ):
        key = Key(USER)
        write(name + ".creds", credential(jwt(issuer, key, name, users, expires), key))


def openssl(*arguments, at=None):
    shift = ["faketime", "-f", at] if at else []
    subprocess.run([*shift, "openssl", *arguments], check=True, capture_output=True)


def authority(name):
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-days", "3650", "-subj", f"/CN={name}", "-keyout", path(f"{name}.key"), "-out",
            path(f"{name}.pem"))


def certificate(name, of, signer, at=None):
    write(f"{name}.ext", f"subjectAltName={of}\n")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            f"/CN={name}", "-keyout", path(f"{name}.key"), "-out", path(f"{name}.csr"))
    openssl("x509", "-req", "-in", path(f"{name}.csr"), "-CA", path(f"{signer}.pem"), "-CAkey",
            path(f"{signer}.key"), "-CAcreateserial", "-days", "30", "-extfile",
            path(f"{name}.ext"), "-out", path(f"{name}.pem"), at=at)


def certificates():
    authority("authority")
    authority("stranger")
    certificate("valid", "DNS:localhost", "authority")
    certificate("address", "IP:127.0.0.1", "authority")
    certificate("other", "DNS:other.example", "authority")
    certificate("foreign", "DNS:localhost", "stranger")
    certificate("expired", "DNS:localhost", "authority", at="-400d")


{"keys": keys, "certificates": certificates}[sys.argv[1]]()
