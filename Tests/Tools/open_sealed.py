"""Opens a group's credentials by docs/design/sealed-file.md alone, with PyNaCl.

usage: open_sealed.py DIRECTORY ROLE [PASSPHRASE | --handed FILE]
       open_sealed.py FILE PASSPHRASE

DIRECTORY is a store: its index, keys/, items/ and audit/. The key of ROLE may be under PASSPHRASE,
or stand in FILE, a copy of the memory in which it was handed over. Else FILE is an export under
PASSPHRASE.

Writes one line a credential: SERVICE, ACCOUNT and the secret, with tabs between.
"""

import hashlib
import pathlib
import struct
import sys

from nacl import bindings
from nacl.pwhash import argon2id

GROUP_LIMIT = 128


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def raw(self, count):
        assert self.at + count <= len(self.data), "truncated"
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, form):
        return struct.unpack("<" + form, self.raw(struct.calcsize(form)))[0]

    def text(self):
        return self.raw(self.number("H")).decode()

    def header(self, magic):
        assert self.raw(8) == magic and self.number("I") == 1, "another format"

    def attributes(self):
        start = self.at
        item = {"id": self.raw(16), "generation": self.number("Q")}
        item["accessibility"] = self.number("B")
        self.raw(24)  # created, changed, expires
        item["service"], item["account"] = self.text(), self.text()
        self.text(), self.text()  # label, comment
        item["recipients"] = [self.text() for _ in range(self.number("B"))]
        item["bytes"] = self.data[start : self.at]
        return item


def verify(data, domain, key):
    """The Ed25519 signature at the end of a file."""
    message, signature = domain + data[:-64], data[-64:]
    assert bindings.crypto_sign_open(signature + message, key) == message


def derived(seed, number):
    """crypto_kdf_derive_from_key: BLAKE2b with the number as salt."""
    salt = number.to_bytes(16, "little")
    return hashlib.blake2b(
        key=seed, digest_size=32, salt=salt, person=b"FBcredkd".ljust(16, b"\0")
    ).digest()


def open_key(store, role, passphrase):
    data = (store / "keys" / f"{role}.key").read_bytes()
    reader = Reader(data)
    reader.header(b"FBROLEKY")
    kind = reader.number("B")
    assert reader.text() == role
    group, signer = reader.text(), reader.raw(32)
    if kind == 1:
        seed = reader.raw(32)
    elif kind == 2:
        operations, memory = reader.number("Q"), reader.number("Q")
        assert 2 <= operations <= 16 and 64 << 20 <= memory <= 1 << 30
        salt, nonce = reader.raw(16), reader.raw(24)
        context = data[: reader.at]
        key = argon2id.kdf(32, passphrase.encode(), salt, operations, memory)
        padded = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(
            reader.raw(272), context, nonce, key
        )
        seed = bindings.sodium_unpad(padded, 256)
    elif kind == 3:
        host = open_key(store, "host", passphrase)[2]
        pair = bindings.crypto_box_seed_keypair(derived(host, 1))
        seed = bindings.crypto_box_seal_open(reader.raw(80), *pair)
    assert reader.at == len(data)
    return group, signer, seed


def open_handed(data, role):
    """The key, and the leases: each with its name and its secret."""
    reader = Reader(data)
    assert reader.number("I") == 1, "taken or ended"
    secrets = Reader(data[len(data) - reader.number("I") :])
    reader.header(b"FBHANDED")
    assert reader.text() == role
    group, signer = reader.text(), reader.raw(32)
    leases = [(reader.attributes(), reader.number("I")) for _ in range(reader.number("B"))]
    assert reader.at + len(secrets.data) == len(data)
    seed = secrets.raw(32)
    lent = []
    for item, count in leases:
        assert item["accessibility"] == 2 and role in item["recipients"]
        lent.append((item["service"], item["account"], secrets.raw(count)))
    assert secrets.at == len(secrets.data)
    return (group, signer, seed), lent


def open_index(data, group, signer):
    reader = Reader(data)
    assert reader.raw(8) == b"FBINDEX1"
    version = reader.number("I")
    assert version in (1, 2), "another format"
    blocks = data
    if version == 2:
        count = reader.number("I")
        data, blocks = data[:count], data[count:]
    verify(data, b"framebus-credential-index-v1", signer)
    assert reader.text() == group
    generation = reader.number("Q")
    assert reader.raw(32) == signer
    roles = {}
    for _ in range(reader.number("H")):
        name = reader.text()
        roles[name] = (reader.raw(32), reader.raw(32))
    writers = [(reader.raw(32), reader.text()) for _ in range(reader.number("H"))]
    count = reader.number("I")
    if version == 1:
        items = [reader.attributes() for _ in range(count)]
    else:
        items = open_blocks(reader, blocks, count)
    assert reader.at == len(data) - 64
    assert all(item["generation"] <= generation for item in items)
    assert all(item["accessibility"] in (0, 1) for item in items)
    return roles, writers, items


def open_blocks(head, data, count):
    """The credentials of an index, in blocks of 128."""
    body, items = Reader(data), []
    for first in range(0, count, 128):
        name = (head.text(), head.text())
        end, digest = body.at + head.number("I"), head.raw(32)
        assert hashlib.blake2b(data[body.at : end], digest_size=32).digest() == digest
        items += [body.attributes() for _ in range(min(128, count - first))]
        assert body.at == end and name == (items[first]["service"], items[first]["account"])
    assert body.at == len(data)
    return items


def open_item(data, item, group, role, keys, roles, writers):
    reader = Reader(data)
    reader.header(b"FBSEALED")
    assert reader.text() == group
    assert reader.attributes()["bytes"] == item["bytes"]
    writer = reader.raw(32)
    assert any(k == writer and item["service"].startswith(p) for k, p in writers)
    verify(data, b"framebus-credential-v1", writer)
    assert [reader.raw(32) for _ in item["recipients"]] == [
        roles[name][0] for name in item["recipients"]
    ]
    commitment, nonce = reader.raw(32), reader.raw(24)
    context = data[: reader.at]
    sealed = dict((name, reader.raw(80)) for name in item["recipients"])
    body = reader.raw(reader.number("I"))
    assert reader.at == len(data) - 64
    data_key = bindings.crypto_box_seal_open(sealed[role], *keys)
    purpose = b"framebus-credential-commitment-v1"
    assert hashlib.blake2b(purpose, key=data_key, digest_size=32).digest() == commitment
    padded = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(body, context, nonce, data_key)
    return bindings.sodium_unpad(padded, 256)


def check_log(data, key):
    previous = bytes(32)
    for start in range(0, len(data) - 511, 512):
        record = data[start : start + 512]
        verify(record, b"framebus-credential-audit-v1", key)
        assert record[40:72] == previous, "a broken chain"
        assert struct.unpack_from("<Q", record, 16)[0] == start // 512 + 1
        previous = hashlib.blake2b(record, digest_size=32).digest()


def open_export(data, passphrase):
    reader = Reader(data)
    reader.header(b"FBEXPORT")
    assert reader.number("B") == 2, "not under a passphrase"
    reader.text(), reader.number("q")  # group, time
    verify(data, b"framebus-credential-export-v1", reader.raw(32))
    operations, memory = reader.number("Q"), reader.number("Q")
    data_key = bindings.crypto_pwhash_alg(
        32, passphrase, reader.raw(16), operations, memory, bindings.crypto_pwhash_ALG_ARGON2ID13
    )
    purpose = b"framebus-credential-commitment-v1"
    assert hashlib.blake2b(purpose, key=data_key, digest_size=32).digest() == reader.raw(32)
    count = reader.number("I")
    context = data[: reader.at]
    for number in range(count):
        nonce = reader.raw(24)
        body, bound = reader.raw(reader.number("I")), context + struct.pack("<I", number)
        padded = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(body, bound, nonce, data_key)
        entry = Reader(bindings.sodium_unpad(padded, 256))
        end = entry.number("I") + 4
        item = entry.attributes()
        assert entry.at == end
        print(item["service"], item["account"], entry.data[end:].decode(), sep="\t")
    assert reader.at == len(data) - 64


def main():
    store, role, rest = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    if store.is_file():
        return open_export(store.read_bytes(), role.encode())
    leases = []
    if rest[:1] == ["--handed"]:
        key, leases = open_handed(pathlib.Path(rest[1]).read_bytes(), role)
    else:
        key = open_key(store, role, rest[0] if rest else None)
    group, signer, seed = key
    assert len(group) <= GROUP_LIMIT
    roles, writers, items = open_index((store / "index").read_bytes(), group, signer)
    keys = bindings.crypto_box_seed_keypair(derived(seed, 1))
    assert keys[0] == roles[role][0]
    check_log((store / "audit" / f"{role}.chain").read_bytes(), roles[role][1])
    for item in items:
        if role not in item["recipients"]:
            continue
        name = f"{item['id'].hex()}-{item['generation']}.sealed"
        data = (store / "items" / name).read_bytes()
        secret = open_item(data, item, group, role, keys, roles, writers)
        print(item["service"], item["account"], secret.decode(), sep="\t")
    for service, account, secret in leases:
        print(service, account, secret.decode(), sep="\t")


main()
