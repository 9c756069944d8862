"""A studio that is killed while it makes a release: the command continues by itself, and the ledger is right."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
import pytest

from cantle.release.verify import verify_folder
from cantle.trusted.ledger import Ledger
from tests.interfaces.studio.running import Running
from tests.interfaces.studio.site import people


@pytest.mark.slow
def test_a_killed_studio_leaves_the_ledger_right(tmp_path: Path) -> None:
    people(tmp_path / "project")
    running = Running(tmp_path / "project")
    second = Running(tmp_path / "project")  # a second studio can start
    assert running.home != second.home
    second.end()
    home = running.home.rstrip("/")
    with httpx.Client(base_url=home, headers={"Origin": home}, timeout=60, follow_redirects=True) as browser:
        browser.get(running.address)
        browser.post("/data/choose", data={"path": "people.csv"})
        browser.post("/protect/ledger", data={"ledger": "ledger.db", "dataset": "people"})
        browser.post("/protect/cap", data={"cap": "3"})
        browser.post("/budget", data={"epsilon": "1", "records": "300"})
        word = browser.get("/publish").text.split('name="word" value="')[1].split('"')[0]
        browser.post("/publish", data={"word": word})
    running.process.kill()
    running.process.communicate()
    account = Ledger(tmp_path / "project" / "ledger.db").account("people")
    for _ in range(600):
        account = Ledger(tmp_path / "project" / "ledger.db").account("people")
        if account.entries and account.entries[0].sha256:
            break
        time.sleep(0.1)
    assert [entry.state for entry in account.entries] == ["released"]
    assert verify_folder(tmp_path / "project" / "release") == []
