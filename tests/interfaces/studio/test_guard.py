"""Who may use the studio: one browser, from its own pages, with bounded requests; refusals are fixed texts."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from cantle.interfaces.studio import server
from cantle.interfaces.studio.guard import REFUSALS
from cantle.interfaces.studio.studio import PrivateFolder
from tests.interfaces.studio.site import HOME, Site


def test_the_token_works_once_and_becomes_a_strict_cookie(site: Site) -> None:
    first = site.ask("GET", f"/?token={site.keys.token}", cookie=False, headers={"Sec-Fetch-Site": "cross-site"})
    assert first.status_code == 200
    cookie = first.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert site.keys.token not in first.text + cookie
    assert site.ask("GET", f"/?token={site.keys.token}", cookie=False).status_code == 403
    assert site.ask("GET", f"/?token={site.keys.token}").status_code == 200, "the same browser may reload"


@pytest.mark.parametrize("path", ["/", "/data", "/static/studio.js", "/?token=wrong", "/?token=", "/nowhere"])
def test_without_the_cookie_every_page_is_refused(site: Site, path: str) -> None:
    answer = site.ask("GET", path, cookie=False)
    assert answer.status_code == 403
    assert REFUSALS[403][1] in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:40123", "127.0.0.1", "127.0.0.1:1", "[::1]:40123", ""])
def test_a_foreign_host_is_refused(site: Site, host: str) -> None:
    """Such requests come from DNS rebinding, where the name of another site leads to this machine."""
    assert site.ask("GET", "/data", headers={"Host": host}).status_code == 403
    assert site.ask("GET", f"/?token={site.keys.token}", cookie=False, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8000"},
        {"Origin": None},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_form_of_another_site_is_refused(site: Site, headers: dict[str, str | None]) -> None:
    answer = site.ask("POST", "/protect/ledger", {"ledger": "x.db", "dataset": "people"}, headers=headers)
    assert answer.status_code == 403
    assert site.studio.settings.ledger == ""


def test_a_page_of_another_site_cannot_fetch_or_frame_the_studio(site: Site) -> None:
    assert site.ask("GET", "/data", headers={"Origin": "http://evil.example"}).status_code == 403
    assert site.ask("GET", "/data", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    headers = site.ask("GET", "/data").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"


def test_requests_that_are_too_large_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    site = Site(tmp_path / "project", most_upload=1000)
    name = {"X-File-Name": "people.csv", "Content-Type": "application/octet-stream"}
    assert site.ask("POST", "/data/upload", body=b"x" * 1001, headers=name).status_code == 413
    lying = {**name, "Content-Length": "5"}
    assert site.ask("POST", "/data/upload", body=b"x" * 1001, headers=lying).status_code == 413
    assert site.studio.upload is None
    assert list(site.studio.private.path.rglob("*.csv")) == []
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert site.ask("POST", "/data/choose", body=b"path=" + b"x" * 2**25, headers=form).status_code == 413
    assert site.ask("POST", "/data/choose", body=b"{}", headers={"Content-Type": "text/plain"}).status_code == 400
    site.studio.close()


def test_an_upload_is_in_a_private_folder_that_is_removed_with_the_studio(site: Site) -> None:
    name = {"X-File-Name": "..%2F..%2F%3Cimg%20onerror%3D1%3E.csv", "Content-Type": "application/octet-stream"}
    answer = site.ask("POST", "/data/upload", body=b"age\n1\n", headers=name)
    assert answer.status_code == 200
    upload = site.studio.upload
    assert upload is not None
    assert upload.name == "_img onerror_1_.csv"
    assert upload.is_relative_to(site.studio.private.path)
    assert stat.S_IMODE(site.studio.private.path.stat().st_mode) == 0o700
    assert stat.S_IMODE(upload.stat().st_mode) == 0o600
    assert upload.name in site.get("/data").text
    site.studio.close()
    assert not site.studio.private.path.exists()


def test_the_folder_of_a_killed_studio_is_removed_by_the_next(tmp_path: Path) -> None:
    killed, alive = PrivateFolder(tmp_path), PrivateFolder(tmp_path)
    os.close(killed.lock)  # the lock is released as at the end of a process
    third = PrivateFolder(tmp_path)
    assert not killed.path.exists()
    assert alive.path.exists()
    alive.close()
    third.close()


def test_unexpected_errors_give_a_fixed_text(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> str:
        raise RuntimeError("Secretville")

    monkeypatch.setattr("cantle.interfaces.studio.studio.Studio.data", property(broken))
    answer = site.ask("GET", "/data")
    assert answer.status_code == 500
    assert REFUSALS[500][1] in answer.text
    assert "Secretville" not in answer.text
    assert site.ask("GET", "/nowhere").status_code == 404
    assert site.ask("POST", "/columns", {"a": "b"}).status_code == 405
    assert HOME not in answer.text


def test_the_studio_listens_before_it_shows_its_address(tmp_path: Path) -> None:
    """A browser may be quicker than the server: its connection must not be refused."""

    class Shown(Exception):
        pass

    def connect(address: str) -> None:
        socket.create_connection((server.ADDRESS, int(address.split(":")[2].split("/")[0])), timeout=5).close()
        raise Shown

    with pytest.raises(Shown):
        server.serve(tmp_path / "project", 0, browser=False, say=connect)
