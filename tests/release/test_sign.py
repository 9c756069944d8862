"""Signatures of releases: made with a private key that only its owner reads, checked with the public one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import cantle
from cantle.errors import OutputError, ParameterError, VerifyError
from cantle.release.sign import SIGNATURE, new_keys, sign, signature_problems
from cantle.release.verify import findings
from tests.interfaces.cli.inside import run
from tests.release.people import SCHEMA, people

ed25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ed25519", reason="the extra sign")


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cantle.publish(people(60), SCHEMA, epsilon=1).save(tmp_path_factory.mktemp("signed") / "out")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    new_keys(tmp_path / "office.key")
    return tmp_path / "office.key"


def public(key: Path) -> Path:
    return key.with_name(f"{key.name}.pub")


def test_a_signed_release_verifies_with_the_key_of_its_signer_only(released: Path, key: Path, tmp_path: Path) -> None:
    assert "nobody has signed" in signature_problems(released, public(key))[0]
    sign(released, key)
    assert findings(released, public(key)).problems == []
    assert findings(released).problems == []
    assert "--key FILE" in findings(released).unchecked[0]
    other = new_keys(tmp_path / "other.key")
    assert findings(released, other).problems == [f"{SIGNATURE} was not made with this key"]


def test_the_signature_is_one_of_the_hash_that_other_tools_can_check(released: Path, key: Path) -> None:
    """By the library alone: what is signed is the purpose and the hash in release.json."""
    import base64

    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    signed = json.loads(sign(released, key).read_bytes())
    named = json.loads((released / "release.json").read_bytes())["sha256"]
    loaded = load_pem_public_key(public(key).read_bytes())
    loaded.verify(base64.b64decode(signed["signature"]), b"cantle release " + named.encode())  # type: ignore[union-attr, call-arg]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"algorithm":"Ed25519"}', b"\xff", b'{"algorithm":"none","release":"x"}']
)
def test_a_file_that_is_no_signature_is_a_problem(content: bytes, released: Path, key: Path) -> None:
    sign(released, key).write_bytes(content)
    assert len(signature_problems(released, public(key))) == 1
    sign(released, key)


def test_changed_signatures_and_releases_are_noticed(released: Path, key: Path, tmp_path: Path) -> None:
    place = sign(released, key)
    document = json.loads(place.read_bytes())
    letter = "A" if document["signature"][5] != "A" else "B"
    changed = document["signature"][:5] + letter + document["signature"][6:]
    place.write_text(json.dumps(document | {"signature": changed}), encoding="utf-8")
    assert signature_problems(released, public(key)) == [f"{SIGNATURE} was not made with this key"]
    sign(released, key)
    second = cantle.publish(people(60), SCHEMA, epsilon=1).save(tmp_path / "second")
    (second / SIGNATURE).write_bytes(place.read_bytes())
    assert "another release" in signature_problems(second, public(key))[0]
    (second / "statement.md").write_text("all is well", encoding="utf-8")
    with pytest.raises(VerifyError, match="a damaged release is not signed"):
        sign(second, key)


def test_private_keys_are_their_owners_alone_and_never_overwritten(key: Path) -> None:
    assert os.name != "posix" or key.stat().st_mode & 0o777 == 0o600
    with pytest.raises(OutputError, match="exists already"):
        new_keys(key)


def test_wrong_key_files_are_refused_without_quoting_them(released: Path, key: Path, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric import x25519

    (tmp_path / "text").write_text("SECRET words", encoding="utf-8")
    other = x25519.X25519PrivateKey.generate()
    coded = (form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    (tmp_path / "x25519").write_bytes(other.private_bytes(*coded))
    locked = ed25519.Ed25519PrivateKey.generate()
    coded = (form.Encoding.PEM, form.PrivateFormat.PKCS8, form.BestAvailableEncryption(b"word"))
    (tmp_path / "locked").write_bytes(locked.private_bytes(*coded))
    for wrong in (tmp_path / "text", tmp_path / "none", tmp_path / "x25519", tmp_path / "locked", public(key)):
        with pytest.raises(ParameterError) as refused:
            sign(released, wrong)
        assert "SECRET" not in str(refused.value)
    for wrong in (tmp_path / "text", tmp_path / "none", key):
        with pytest.raises(ParameterError):
            signature_problems(released, wrong)


def test_the_commands_sign_and_check(released: Path, tmp_path: Path) -> None:
    assert run("sign", "--new-key", "k", cwd=tmp_path).returncode == 0
    assert run("sign", str(released), "--key", "k", cwd=tmp_path).returncode == 0
    checked = run("verify", str(released), "--key", "k.pub", cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout
    assert checked.stdout.endswith("verified\n")
    assert run("sign", "--new-key", "other", cwd=tmp_path).returncode == 0
    assert run("verify", str(released), "--key", "other.pub", cwd=tmp_path).returncode == 5
    assert run("sign", cwd=tmp_path).returncode == 2
