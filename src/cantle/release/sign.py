"""Signatures: who published a release, as an Ed25519 signature of the hash that identifies it.

The signature is a file beside the others of a release. It is not among the hashed files, because it is made of their
hash.
"""

from __future__ import annotations

import base64
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import rfc8785

from cantle.errors import MissingExtra, OutputError, ParameterError, VerifyError, install_command, raise_alone
from cantle.release.manifest import mark_of, read_manifest

SIGNATURE = "signature.json"
PURPOSE = b"cantle release "
"""Stands before the hash in what is signed, so that no signature made for another purpose fits."""


def new_keys(place: Path) -> Path:
    """Writes a new private key, which only its owner can read, and the public key beside it; returns the latter's
    path."""
    _require()
    from cryptography.hazmat.primitives import serialization as form
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = place.with_name(f"{place.name}.pub")
    if taken := next((one for one in (place, public) if one.exists()), None):
        raise OutputError(f"{taken} exists already; a key is never overwritten: choose another name")
    key = Ed25519PrivateKey.generate()
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    shown = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    try:
        for path, content, mode in ((place, secret, 0o600), (public, shown, 0o644)):
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
                file.write(content)
    except OSError as error:
        raise_alone(OutputError(f"cannot write {place}: {error.strerror}"))
    return public


def sign(folder: Path, key: Path) -> Path:
    """Signs a release that verifies; returns the path of the signature."""
    from cantle.release.verify import verify_folder

    secret = _read(key, private=True)
    if found := verify_folder(folder):
        raise VerifyError(f"a damaged release is not signed: {'; '.join(found)}")
    manifest = read_manifest(folder)
    target = folder / (mark_of(manifest) + SIGNATURE)
    signed = base64.b64encode(secret.sign(PURPOSE + manifest.sha256.encode())).decode()
    document = {"algorithm": "Ed25519", "release": manifest.sha256, "signature": signed}
    try:
        target.write_bytes(rfc8785.dumps(document))
    except OSError as error:
        raise_alone(OutputError(f"cannot write {target}: {error.strerror}"))
    return target


def signature_problems(folder: Path, key: Path) -> list[str]:
    """What is wrong with the signature of a release, judged by the signer's public key."""
    public = _read(key, private=False)
    manifest = read_manifest(folder)
    name = mark_of(manifest) + SIGNATURE
    if not (folder / name).is_file():
        return [f"{name} is missing: nobody has signed this release"]
    from cryptography.exceptions import InvalidSignature

    try:
        document = json.loads((folder / name).read_bytes())
        if document["algorithm"] != "Ed25519" or document["release"] != manifest.sha256:
            return [f"{name} is for another release, or of another kind"]
        public.verify(base64.b64decode(document["signature"], validate=True), PURPOSE + manifest.sha256.encode())
    except InvalidSignature:
        return [f"{name} was not made with this key"]
    except (ValueError, KeyError, TypeError):
        return [f"{name} is not a signature"]
    return []


def _read(path: Path, *, private: bool) -> Any:
    """The Ed25519 key in a PEM file. Messages do not quote the file, which may be secret."""
    _require()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key

    what = "private" if private else "public"
    try:
        content = path.read_bytes()
        key = load_pem_private_key(content, None) if private else load_pem_public_key(content)
    except OSError:
        raise_alone(ParameterError(f"{path} cannot be read; check the name and its permissions"))
    except (ValueError, TypeError):
        raise_alone(ParameterError(f"{path} does not hold a {what} key without a passphrase, in the form PEM"))
    except Exception:  # an algorithm that this installation does not know
        raise_alone(ParameterError(f"{path} holds a {what} key of an unknown kind"))
    if not isinstance(key, Ed25519PrivateKey if private else Ed25519PublicKey):
        ask, make = "ask the signer for the file that ends in .pub", "make one with `cantle sign --new-key FILE`"
        raise ParameterError(f"{path} is no Ed25519 key; {make if private else ask}")
    return key


def _require() -> None:
    if find_spec("cryptography") is None:
        raise MissingExtra(f"signatures need the package cryptography; install it with: {install_command('sign')}")
