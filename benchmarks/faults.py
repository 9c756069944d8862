"""Faults that a ledger and a release must survive: python benchmarks/faults.py [--quick] [FAULT...].

    kills       kill -9 at 200 random moments of a publish with a ledger
    deaths      a publish with a ledger that dies before its first file operation, then before its second, and so on
    charges     kill -9 at 200 random moments of a process that makes one charge after the other
    race        200 processes at once on a cap for 50, in SQLite and in PostgreSQL
    publishers  20 whole publishers at once on a cap for 7, likewise
    full        a publish with a ledger on disks that fill up at 40 different sizes
    edits       1,000 random edits of single bytes of releases, each of which `verify` must notice

It prints what happened, and ends with 1 if anything was lost, overspent, half visible or unnoticed. PostgreSQL is
started in a temporary folder if it is installed; otherwise its part is skipped with a message. Real full disks need the
right to mount a disk; without it, limits on the size of files are used instead.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NAME = "raced"
SCHEMA = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "town", "type": "string", "categories": ["Ash", "Birch", "Cedar"]},
        {"name": "ill", "type": "string", "categories": ["no", "yes"], "role": "target"},
    ]
}


def write_people(folder: Path, records: int = 3000) -> None:
    """Writes a private table and its schema."""
    towns = ("Ash", "Birch", "Cedar")
    lines = [f"{i * 37 % 100},{towns[i % 3]},{'yes' if i % 7 < i % 100 / 20 else 'no'}" for i in range(records)]
    (folder / "people.csv").write_text("\n".join(["age,town,ill", *lines, ""]))
    (folder / "schema.json").write_text(json.dumps(SCHEMA))


# ------------------------------------------------------------------------------------------------ workers


def start(*arguments: object, cwd: Path) -> subprocess.Popen[str]:
    """Starts a worker, which waits until `let_go` is called."""
    command = [sys.executable, str(Path(__file__).with_name("workers.py")), *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=cwd, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def let_go(workers: list[subprocess.Popen[str]]) -> None:
    """Waits until all have loaded their modules, then lets all begin at once."""
    for worker in workers:
        assert worker.stdout is not None
        if worker.stdout.readline() != "ready\n":
            raise RuntimeError(f"a worker did not start: {worker.communicate()[1]}")
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()


def ends(workers: list[subprocess.Popen[str]]) -> list[tuple[int, str, str]]:
    """Waits for the workers; returns exit code, output and errors of each."""
    outputs = [worker.communicate(timeout=600) for worker in workers]
    return [(worker.returncode, *texts) for worker, texts in zip(workers, outputs, strict=True)]


def publish_here(folder: Path, where: str, nano: int, name: str) -> None:
    """Publishes in this process, without a disturbance."""
    import cantle

    charged = {"epsilon": f"{nano / 10**9:.9f}", "ledger": where, "dataset": NAME}
    cantle.publish(folder / "people.csv", folder / "schema.json", method="rps", **charged).save(folder / name)


# ------------------------------------------------------------------------------------------------- faults


def judge(folder: Path, where: str, runs: dict[int, str], reached: Counter[str]) -> list[str]:
    """Lists all that is wrong with a ledger and its releases; `runs` has the folder of each run by its price.

    `reached` counts the states that runs ended in.
    """
    from cantle.release.manifest import read_manifest
    from cantle.release.verify import verify_folder
    from cantle.trusted.ledger import Ledger

    account = Ledger(where).account(NAME)
    wrong = []
    entries = {entry.epsilon_nano: entry for entry in account.entries}
    if len(entries) != len(account.entries) or not set(entries) <= set(runs):
        wrong.append("a run was charged twice, or one that never ran")
    if account.cap_nano is not None and account.spent_nano > account.cap_nano:
        wrong.append("the cap was passed")
    for nano, name in runs.items():
        opened, saved, entry = (folder / f"{name}.opened").exists(), (folder / name).exists(), entries.get(nano)
        state = "not yet charged" if entry is None else entry.state
        reached[f"{state}; data {'opened' if opened else 'not opened'}; {'visible' if saved else 'no release'}"] += 1
        if (opened or saved) and entry is None:
            wrong.append(f"{name}: the data was opened without a charge")
        if saved:
            wrong += [f"{name}: {problem}" for problem in verify_folder(folder / name)]
            manifest = read_manifest(folder / name)
            if entry is None or manifest.ledger.sequence != entry.sequence:
                wrong.append(f"{name}: the release and the ledger do not know each other")
            elif entry.sha256 not in (None, manifest.sha256):
                wrong.append(f"{name}: the ledger has another hash")
        if entry is not None and entry.sha256 is not None and not saved:
            wrong.append(f"{name}: recorded as released, but not there")
    return wrong


def kills(times: int, folder: Path, lasts: float = 0.0) -> list[str]:
    """Kills runs with kill -9 at random moments, from the start of `publish` to shortly after the end of `save`.

    How many seconds a run lasts is measured before every 20th run, unless it is given.
    """
    from cantle.trusted.ledger import Ledger

    write_people(folder)
    measured = not lasts
    where, runs, reached, dice = str(folder / "ledger.db"), {}, Counter[str](), random.Random(2)

    def new_run() -> tuple[int, str]:
        """The price and the folder of one more run."""
        nano, name = 10_000_000 + len(runs), f"out{len(runs)}"
        runs[nano] = name
        return nano, name

    def run(moment: float | None = None) -> float:
        """Makes a run that is killed at a moment, or not killed; returns how long it took."""
        nano, name = new_run()
        worker = start("publish", where, f"{nano / 10**9:.9f}", name, cwd=folder)
        let_go([worker])
        began = time.monotonic()
        if moment is None:
            assert worker.stdout is not None
            worker.stdout.readline()
        else:
            time.sleep(moment)
            worker.send_signal(signal.SIGKILL)
        took = time.monotonic() - began
        ends([worker])
        return took

    for i in range(times):
        lasts = run() if measured and i % 20 == 0 else lasts  # how long a run takes at present
        run(dice.uniform(0, 1.1 * lasts))
    Ledger(where).create()  # unless it exists already
    publish_here(folder, where, *new_run())  # everything must still work
    wrong = judge(folder, where, runs, reached) + _works(where)
    print(f"kills: {times} in runs of about {1000 * lasts:.0f} ms, {len(wrong)} discrepancies")
    _print_states(reached)
    return wrong


def deaths(step: int, folder: Path) -> list[str]:
    """Lets each run die just before a file operation, a later one each time, until a run is complete."""
    write_people(folder)
    where, runs, reached = str(folder / "ledger.db"), {}, Counter[str]()
    for i in range(1, 1000):
        nano = 10_000_000 + i
        runs[nano] = f"out{i}"
        worker = start("publish", where, f"{nano / 10**9:.9f}", runs[nano], 0, 1 + (i - 1) * step, cwd=folder)
        let_go([worker])
        if ends([worker])[0][0] == 0:
            break
    wrong = judge(folder, where, runs, reached) + _works(where)
    print(f"deaths: {len(runs) - 1}, each before a file operation, {len(wrong)} discrepancies")
    _print_states(reached)
    return wrong


def charges(times: int, folder: Path) -> list[str]:
    """Kills a process that makes one charge after the other.

    No charge that was granted may be lost, and the ledger may have at most one more.
    """
    from cantle.trusted.ledger import Ledger

    where, dice, granted, wrong = str(folder / "ledger.db"), random.Random(4), 0, []
    Ledger(where).create()
    for _ in range(times):
        worker = start("charges", where, cwd=folder)
        let_go([worker])
        time.sleep(dice.uniform(0.005, 0.2))
        worker.send_signal(signal.SIGKILL)
        last = [line for line in ends([worker])[0][1].split("\n")[:-1] if line]
        known = sum(len(account.entries) for account in Ledger(where).accounts())
        if last and not int(last[-1]) <= known <= int(last[-1]) + 1:
            wrong.append(f"{last[-1]} charges were granted, {known} are in the ledger")
        granted = known
    print(f"charges: {times} kills among {granted} charges, {len(wrong)} discrepancies")
    return wrong


def _works(where: str) -> list[str]:
    from cantle.trusted.ledger import Ledger

    return (
        []
        if Ledger(where).account(NAME).entries[-1].sha256
        else ["the last run, which was not disturbed, is not recorded"]
    )


def _print_states(reached: Counter[str]) -> None:
    for state, number in reached.most_common():
        print(f"  {number:4} {state}")


def race(processes: int, allowed: int, where: str, folder: Path) -> list[str]:
    """Lets many processes charge at once, with a cap that has room for `allowed` charges and a half."""
    from cantle.trusted.ledger import Ledger

    nano = 10_000_000
    Ledger(where).cap(NAME, f"{(2 * allowed + 1) * nano / (2 * 10**9):.9f}")
    workers = [start("charge", where, nano, cwd=folder) for _ in range(processes)]
    let_go(workers)
    results = ends(workers)
    account = Ledger(where).account(NAME)
    took = [text for code, text, _ in results if code == 0 and text.startswith("charged")]
    refused = [text for code, text, _ in results if code == 0 and text == "refused\n"]
    wrong = [f"a process failed: {errors.strip().splitlines()[-1]}" for code, _, errors in results if code]
    if len(took) != allowed or len(account.entries) != allowed or len(refused) != processes - allowed:
        wrong.append(f"{len(took)} charges were granted and {len(account.entries)} recorded, {allowed} fit the cap")
    over = _over(account)
    print(f"race: {processes} processes, room for {allowed} charges, {len(took)} granted; {over} overspent")
    return wrong


def publishers(processes: int, allowed: int, where: str, folder: Path) -> list[str]:
    """Lets whole publishers charge one cap at once; their prices differ a little, which identifies them."""
    from cantle.trusted.ledger import Ledger

    write_people(folder)
    prices = [10_000_000 + i for i in range(processes)]
    Ledger(where).cap(NAME, f"{(allowed * 10_000_000 + 5_000_000) / 10**9:.9f}")
    runs = {nano: f"out{nano}" for nano in prices}
    workers = [start("publish", where, f"{nano / 10**9:.9f}", runs[nano], cwd=folder) for nano in prices]
    let_go(workers)
    results = ends(workers)
    wrong = judge(folder, where, runs, Counter())
    done = sum(code == 0 for code, _, _ in results)
    refused = sum(text.startswith("CapExceeded") for _, text, _ in results)
    visible = [name for name in runs.values() if (folder / name).exists()]
    if (done, refused, len(visible)) != (allowed, processes - allowed, allowed):
        wrong.append(f"{done} published, {refused} were refused, {len(visible)} releases are visible")
    over = _over(Ledger(where).account(NAME))
    print(f"publishers: {processes} at once, room for {allowed}, {done} published; {over} overspent")
    return wrong


def _over(account: Any) -> int:
    return max(0, account.spent_nano - account.cap_nano)


def full(sizes: int, folder: Path, *, mounts: bool) -> list[str]:
    """Publishes on disks from far too small to large enough; no charge may be lost, and no release half visible."""
    wrong, reached = [], Counter[str]()
    for i in range(sizes):
        place = folder / f"disk{i}"
        place.mkdir()
        size = 4096 * (1 + i * 60 // sizes) if mounts else 2048 * (1 + i * 30 // sizes)
        if mounts:
            command = ["unshare", "-m", sys.executable, __file__, "--disk", str(place), str(size)]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                wrong.append(f"disk of {size}: {done.stderr.strip().splitlines()[-1]}")
                continue
            report = json.loads(done.stdout.splitlines()[-1])
        else:
            report = on_a_disk(place, size, mount=False)
        reached[report["said"]] += 1
        wrong += [f"disk of {size}: {one}" for one in report["wrong"]]
    print(f"full: {sizes} {'disks' if mounts else 'limits of file size'}, {len(wrong)} discrepancies")
    _print_states(reached)
    return wrong


def can_mount() -> bool:
    """Whether this process may mount a small disk that it alone sees."""
    if sys.platform != "linux" or os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


def on_a_disk(place: Path, size: int, *, mount: bool) -> dict[str, Any]:
    """One run on a disk of `size` bytes, or with files of at most that size; it is judged before the disk is gone."""
    if mount:
        write_people(place.parent, 300)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "none", str(place)], check=True)
        for name in ("people.csv", "schema.json"):
            (place / name).symlink_to(place.parent / name)
    else:
        write_people(place, 300)
    worker = start("publish", "ledger.db", "0.010000000", "out", 0 if mount else size, cwd=place)
    let_go([worker])
    _, text, errors = ends([worker])[0]
    wrong = [] if text else [f"unexpected: {errors.strip().splitlines()[-1]}"]
    opened, saved = (place / "out.opened").exists(), (place / "out").exists()
    if mount:
        subprocess.run(["mount", "-o", "remount,size=64m", str(place)], check=True)  # room to judge what is there
    try:
        wrong += judge(place, str(place / "ledger.db"), {10_000_000: "out"}, Counter())
    except Exception as error:  # noqa: BLE001 - on a small disk there may be no ledger at all
        if opened or saved:
            wrong.append(f"the data was opened and the ledger is lost: {error}")
    left = [path.name for path in place.iterdir() if path.name.startswith(".out")]
    wrong += [f"{name} was left behind" for name in left]
    return {"said": _shortened(text), "wrong": wrong}


def _shortened(text: str) -> str:
    return text.strip().split(":")[0] + (" (data opened)" if "stands" in text or "paid" in text else "")


def edits(times: int, folder: Path) -> list[str]:
    """Replaces, inserts or removes single bytes anywhere in a release; `verify` must notice each edit."""
    import cantle
    from cantle.release.verify import verify_folder

    write_people(folder, 300)
    dice, unnoticed = random.Random(3), []
    options = [{"method": "rps"}, {"method": "diffgen"}, {"insecure_seed": 1}]
    cantle.Ledger(folder / "ledger.db").create()
    charged = {"ledger": folder / "ledger.db", "dataset": NAME}
    releases = [
        cantle.publish(folder / "people.csv", folder / "schema.json", epsilon=1, **charged, **one).save(
            folder / f"r{i}"
        )
        for i, one in enumerate(options)
    ]
    assert not any(verify_folder(one) for one in releases)
    files = [path for one in releases for path in sorted(one.iterdir())]
    for i in range(times):
        path = dice.choice(files)
        whole = path.read_bytes()
        at = dice.randrange(len(whole))
        other = bytes([(whole[at] + dice.randrange(1, 256)) % 256])
        kind = dice.choice(["replaced"] * 8 + ["inserted", "removed"])
        changed = {"replaced": other + whole[at + 1 :], "inserted": other + whole[at:], "removed": whole[at + 1 :]}
        path.write_bytes(whole[:at] + changed[kind])
        if path.read_bytes() != whole and not verify_folder(path.parent):
            unnoticed.append(f"edit {i}: byte {at} of {path.name} {kind}")
        path.write_bytes(whole)
    assert not any(verify_folder(one) for one in releases)
    print(f"edits: {times} in {len(files)} files, {len(unnoticed)} unnoticed")
    return unnoticed


# ---------------------------------------------------------------------------------------------------- main


def both(title: str, fault: Any) -> list[str]:
    """Tries a fault with a ledger in SQLite and with one in PostgreSQL."""
    sys.path.append(str(ROOT))
    from benchmarks.server import postgres

    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        print("SQLite", end=", ")
        wrong += fault(str(Path(folder) / "ledger.db"), Path(folder))
    with postgres() as url, tempfile.TemporaryDirectory() as folder:
        print("PostgreSQL", end=", ")
        if url is None:
            print(f"{title}: skipped, initdb and postgres are not installed")
        else:
            wrong += fault(url, Path(folder))
    return wrong


def alone(fault: Any) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        return list(fault(Path(folder)))


def main() -> None:
    if sys.argv[1:2] == ["--disk"]:
        print(json.dumps(on_a_disk(Path(sys.argv[2]), int(sys.argv[3]), mount=True)))
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", help="default: all")
    parser.add_argument("--quick", action="store_true", help="a tenth of everything")
    options = parser.parse_args()
    n = 10 if options.quick else 1
    known = {
        "kills": lambda: alone(lambda folder: kills(200 // n, folder)),
        "deaths": lambda: alone(lambda folder: deaths(n, folder)),
        "charges": lambda: alone(lambda folder: charges(200 // n, folder)),
        "race": lambda: both("race", lambda where, folder: race(200 // n, 50 // n, where, folder)),
        "publishers": lambda: both(
            "publishers", lambda where, folder: publishers(20 // n, 7 // n + n // 10, where, folder)
        ),
        "full": lambda: alone(lambda folder: full(40 // n, folder, mounts=can_mount())),
        "edits": lambda: alone(lambda folder: edits(1000 // n, folder)),
    }
    wrong = [problem for name in options.faults or known for problem in known[name]()]
    for problem in wrong:
        print("WRONG:", problem)
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
