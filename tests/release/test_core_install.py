"""Without the extra pyarrow, a core install reads and writes plain pandas frames, and loads only what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys

class Without:
    '''A finder that does not know pyarrow.'''

    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.partition(".")[0] == "pyarrow" else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Without, sys.meta_path)
sys.path.append(sys.argv[2])

from pathlib import Path
import pandas as pd
import cantle
from tests.entropy import drawn_from

texts = {"type": "string", "categories": ["x", "y"]}
whole = {"type": "integer", "constraints": {"minimum": 0, "maximum": 9}}
columns = {
    "text": (texts, ["x", "y", None]),
    "objects": (texts, pd.Series(["x", 1, None], dtype=object)),
    "declared": (texts, pd.array(["x", None, "y"], dtype="string")),
    "category": (texts, pd.Categorical(["x", "y", None])),
    "whole": (whole, [1, 2, 3]),
    "nullable": (whole, pd.array([1, None, 3], dtype="Int64")),
    "number": ({"type": "number", "step": 0.5, "constraints": whole["constraints"]}, [1.5, None, 2.0]),
    "flag": ({"type": "boolean"}, [True, None, False]),
    "day": (
        {"type": "date", "constraints": {"minimum": "2025-01-01", "maximum": "2025-01-09"}},
        pd.to_datetime(["2025-01-03", None, "2025-01-04"]),
    ),
}
table = pd.DataFrame({name: pd.Series(values) for name, (_, values) in columns.items()})
private = {
    "table": (pd.concat([table] * 20), {"fields": [{"name": name, **field} for name, (field, _) in columns.items()]}),
    "lists": (pd.DataFrame({"items": [["x", "y"], ["x"]] * 30}), {"kind": "sets", "items": ["x", "y"]}),
    "long": (pd.DataFrame({"id": [1, 1, 2] * 20, "item": ["x", "y", "x"] * 20}), {"kind": "sets", "items": ["x", "y"]}),
    "graph": (pd.DataFrame({"a": ["x", "y"] * 9, "b": [str(k) for k in range(18)]}), {"kind": "graph"}),
}
others = {"cantle.methods.baskets.method", "cantle.methods.degrees.method", "cantle.data.graphs"}
others |= {"cantle.trusted.counting.spark"}
drawn_from("core install").__enter__()
for name, (frame, schema) in private.items():
    for data in ("csv", "parquet"):
        release = cantle.publish(frame, schema, epsilon=5)
        release.verify()
        release.save(Path(sys.argv[1]) / f"{name}-{data}", data=data)
        cantle.Release.load(Path(sys.argv[1]) / f"{name}-{data}").verify()
    if name == "table":
        assert not others & set(sys.modules), others & set(sys.modules)
    print(name, type(release.records).__module__.partition(".")[0], "pyarrow" in sys.modules)
"""


def test_pandas_frames_of_every_kind_need_no_pyarrow(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == [
        "table pandas False",
        "lists pandas False",
        "long pandas False",
        "graph polars False",
        "",
    ]
