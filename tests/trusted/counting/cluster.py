"""A real Spark standalone cluster for tests: a master and workers on loopback, each a process of its own.

The PySpark of the package index has no start scripts, so the classes are started by `spark-class`.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


def missing() -> str | None:
    """The reason why no cluster can be started here, or None."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "PySpark is not installed (extra spark)"
    home = os.environ.get("JAVA_HOME")
    return None if shutil.which("java", path=f"{home}/bin" if home else None) else "there is no Java"


class Cluster:
    """A master and its workers, with their files in `folder`; `session` is the Spark session of the driver."""

    def __init__(self, folder: Path) -> None:
        import pyspark

        self.folder, self._home = folder, Path(pyspark.__file__).parent
        self._running: list[subprocess.Popen[bytes]] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"spark://127.0.0.1:{port}"
        self._start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
        _until(lambda: _listens(port))
        for _ in range(2):
            self.add_worker()
        self.session = self._session()
        self.await_workers(2)

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        own = {"SPARK_HOME": str(self._home), "SPARK_SCALA_VERSION": "2.13", "SPARK_LOCAL_IP": "127.0.0.1"}
        own |= {
            "SPARK_LOCAL_DIRS": str(self.folder),
            "SPARK_LOG_DIR": str(self.folder),
            "PYSPARK_PYTHON": sys.executable,
        }
        command = [str(self._home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
        with (self.folder / f"{kind}{len(self._running)}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                env=os.environ | own,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        self._running.append(process)
        return process

    def add_worker(self) -> subprocess.Popen[bytes]:
        """Starts one more worker with one core; its executors are in its process group."""
        options = ("--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0")
        return self._start("worker.Worker", *options, "--work-dir", str(self.folder / "work"), self.url)

    def _session(self) -> Any:
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.enabled": "false",
            "spark.executor.memory": "600m",
            "spark.local.dir": str(self.folder),
            "spark.sql.shuffle.partitions": "4",
        }
        session = SparkSession.builder.master(self.url).appName("cantle tests").config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return session

    def workers(self) -> int:
        """The number of executors that the driver knows."""
        return self.session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1

    def await_workers(self, number: int) -> None:
        _until(lambda: self.workers() == number)

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kills a worker without notice, as if its machine were lost."""
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait(30)

    def close(self) -> None:
        self.session.stop()
        for process in reversed(self._running):
            with suppress(ProcessLookupError):
                self.kill(process)


def _die_with_parent() -> None:
    """Asks Linux to kill this process when its parent ends, for whatever reason."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _until(done: Any, seconds: float = 240) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise RuntimeError("the Spark cluster did not start in time")
        time.sleep(0.2)


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster with two workers, which runs until the block ends."""
    started = Cluster(folder)
    try:
        yield started
    finally:
        started.close()
