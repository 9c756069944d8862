"""Targets of the fuzzer: every reader of data, schemas, hierarchies and releases, with canaries as private values."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import rfc8785
import yaml

from cantle.data.draft_schema import draft
from cantle.data.draft_schema.tables import text_of
from cantle.errors import SchemaError
from cantle.schema import Schema
from cantle.schema.code_books import read_code_book
from cantle.schema.hierarchy_files import load_hierarchy
from tests.fuzz.case import NUMBER, WORD, Target, WhenUsed, published
from tests.fuzz.degenerate import SHAPES
from tests.fuzz.mutations import TOKENS, YAML
from tests.fuzz.releases import MANIFESTS, PARTS, part, use_manifest, use_part
from tests.release.people import SCHEMA, people
from tests.schema.code_books import ADULT, as_csv, as_ddi, as_nist, as_sdv, as_smartnoise

# ---- tables ---------------------------------------------------------------------------------------------------------


def _people() -> pl.DataFrame:
    """People whose id, undeclared town, unreadable age and out-of-range weight are canaries."""
    table = people(24).cast({"age": pl.String, "weight": pl.String, "joined": pl.String, "seen": pl.String})
    bird = pl.int_range(pl.len()) % 5 == 0
    word = pl.lit(WORD.decode())
    return table.with_columns(
        pl.when(bird).then(word).otherwise(pl.col(name)).alias(name) for name in ("id", "age", "town", "joined", "ill")
    ).with_columns(weight=pl.when(bird).then(pl.lit(NUMBER.decode())).otherwise("weight"))


def _csv_seeds() -> tuple[bytes, ...]:
    plain = _people().write_csv().encode()
    quoted = _people().write_csv(quote_style="always").encode()
    lines = "".join(f'"{row[0]}\n""{row[1]}"" ","{row[2]}",{",".join(map(str, row[3:]))}\n' for row in _people().rows())
    head = plain.split(b"\n", 1)[0] + b"\n"
    return plain, quoted, head + lines.encode(), head, plain.replace(b"\n", b"\r\n"), plain.replace(b"\n", b"\r")


DIALECTS: tuple[dict[str, Any], ...] = (
    {}, {}, {}, {"delimiter": ";"}, {"skipInitialSpace": True}, {"header": False}, {"quoteChar": ""},
    {"quoteChar": "'"}, {"encoding": "latin-1"}, {"encoding": "gbk"},
    {"encoding": "cp1252", "skipInitialSpace": True}, {"delimiter": " "}, {"delimiter": "\t"},
    {"encoding": "cp437"}, {"encoding": "shift_jis"}, {"encoding": "ascii"},
)  # fmt: skip
UNITS: tuple[dict[str, Any], ...] = ({}, {}, {}, {"unit": {"person": "id", "max_records": 2}})
STEPS: tuple[dict[str, Any], ...] = (
    {}, {"step": 10}, {"constraints": {"minimum": 0, "maximum": 99, "multipleOf": 3}},
    {"step": 6, "constraints": {"minimum": 0, "maximum": 99, "multipleOf": 2}},
)  # fmt: skip
RPS: dict[str, Any] = {"method": "rps", "depth": 2}


def _table_schema(dice: Random) -> dict[str, Any]:
    unit = UNITS[dice.randrange(len(UNITS))]
    steps = STEPS[dice.randrange(len(STEPS))]
    fields = [field | steps if field["name"] == "age" else field for field in SCHEMA["fields"]]
    more = {"dialect": DIALECTS[dice.randrange(len(DIALECTS))], "missingValues": ["", "NA"]}
    return SCHEMA | {"fields": fields} | more | unit


def _use_table(path: Path, dice: Random) -> None:
    how = RPS if dice.randrange(2) else {"method": "diffgen", "rounds": 1}
    published(path, _table_schema(dice), dice, path.parent, **how)


def _use_draft(path: Path, dice: Random) -> None:
    draft(path, header=bool(dice.randrange(2)), infer=bool(dice.randrange(2)))


def _parquet_seeds() -> tuple[bytes, ...]:
    seeds = []
    tables = (_people(), people(24), _people().head(0))
    for table, packed in zip(tables, ("zstd", "uncompressed", "snappy"), strict=True):
        seeds.append(_parquet(table, packed))
    return tuple(seeds)


def _parquet(table: pl.DataFrame, packed: str = "zstd") -> bytes:
    file = io.BytesIO()
    table.write_parquet(file, compression=packed)  # type: ignore[arg-type]
    return file.getvalue()


# ---- sets -----------------------------------------------------------------------------------------------------------

BASKETS = [[1, 2, 3], [2], [3, 17], [1, 5, 9], [NUMBER.decode(), 2], [WORD.decode()], [4, 4, 4]]
UNIVERSES: tuple[Any, ...] = (
    {"minimum": 1, "maximum": 17}, [1, 2, 3, 5, 9, 17], ["1", "2", "3", "bread", "é"], {"minimum": -3, "maximum": 3},
)  # fmt: skip


def _set_schema(dice: Random, **more: Any) -> dict[str, Any]:
    dialect = DIALECTS[dice.randrange(len(DIALECTS))]
    return {"kind": "sets", "items": UNIVERSES[dice.randrange(len(UNIVERSES))], "dialect": dialect} | more


def _use_sets(form: str) -> Callable[[Path, Random], None]:
    def use(path: Path, dice: Random) -> None:
        tree = {"cells": "tree", "fanout": 2} if dice.randrange(2) else {"preset": "paper"}
        published(path, _set_schema(dice, form=form), dice, path.parent, **tree)

    return use


def _fimi_seeds() -> tuple[bytes, ...]:
    lines = "\n".join(" ".join(map(str, items)) for items in BASKETS) + "\n"
    return lines.encode(), lines.replace("\n", "\r\n").encode(), lines.replace(" ", "\t").encode(), b"\n\n"


def _long_rows() -> list[tuple[str, str]]:
    return [(f"{WORD.decode()}{i}", str(item)) for i, items in enumerate(BASKETS) for item in items]


def _long_seeds() -> tuple[bytes, ...]:
    rows = _long_rows()
    plain = "id,item\n" + "".join(f"{a},{b}\n" for a, b in rows)
    return plain.encode(), ("id;item\n" + "".join(f'"{a}";"{b}"\n' for a, b in rows)).encode()


def _set_parquet_seeds() -> tuple[bytes, ...]:
    lists = pl.DataFrame({"items": [[str(item) for item in items] for items in BASKETS]})
    long = pl.DataFrame(_long_rows(), schema=["id", "item"], orient="row")
    return _parquet(lists), _parquet(long, "uncompressed")


def _use_set_parquet(path: Path, dice: Random) -> None:
    published(path, _set_schema(dice), dice, path.parent, cells="tree", fanout=2)


# ---- graphs ---------------------------------------------------------------------------------------------------------

EDGES = [("0", "1"), ("1", "2"), ("2", "0"), ("3", NUMBER.decode()), (WORD.decode(), "1"), ("4", "4"), ("2", "1")]
GRAPHS: tuple[dict[str, Any], ...] = (
    {}, {}, {"unit": "edge", "nodes": 9}, {"unit": "node-isolate", "nodes": {"minimum": 0, "maximum": 8}},
    {"nodes": {"minimum": 0, "maximum": 8}}, {"nodes": ["0", "1", "ann", 4]}, {"max_degree": 3},
)  # fmt: skip


def _use_graph(**more: Any) -> Callable[[Path, Random], None]:
    def use(path: Path, dice: Random) -> None:
        schema = {"kind": "graph"} | GRAPHS[dice.randrange(len(GRAPHS))] | more
        how = {"preset": "paper", "theta": 2} if schema.get("unit") != "edge" and dice.randrange(3) == 0 else {}
        published(path, schema, dice, path.parent, **how)

    return use


def _use_degrees(path: Path, dice: Random) -> None:
    published(path, {"kind": "graph", "unit": "edge", "form": "degrees"}, dice, path.parent)


def _use_nodes(path: Path, dice: Random) -> None:
    published([(0, 1), (1, 2)], {"kind": "graph"}, dice, path.parent, nodes=path)


def _edge_seeds() -> tuple[bytes, ...]:
    plain = "# nodes\n" + "".join(f"{a}\t{b}\n" for a, b in EDGES)
    marked = "source,target\n" + "".join(f'"{a}", {b}, 1.5\n' for a, b in EDGES)
    return plain.encode(), marked.encode(), plain.replace("\n", "\r\n").encode()


def _matrix_seeds() -> tuple[bytes, ...]:
    body = "%%MatrixMarket matrix coordinate pattern symmetric\n% made\n9 9 7\n"
    return ((body + "".join(f"{a} {b}\n" for a, b in EDGES)).encode(), (body + "1 2 3.5\n").encode())


def _degree_seeds() -> tuple[bytes, ...]:
    return (f"3\n2\n1\n0\n{NUMBER.decode()}\n{WORD.decode()}\n2.0\n-1\n".encode(),)


# ---- the public side ------------------------------------------------------------------------------------------------

JOBS = ("Engineer", "Lawyer", "Dancer", "Writer", "Clerk")
TREE = {"Professional": ["Engineer", "Lawyer"], "Artist": [{"Stage": ["Dancer"]}, "Writer"], "Other": ["Clerk"]}
SETS_SCHEMA = {"kind": "sets", "items": {"minimum": 1, "maximum": 17}, "form": "list", "missingValues": ["", "NA"]}
GRAPH_SCHEMA = {
    "kind": "graph",
    "unit": "node",
    "nodes": {"minimum": 0, "maximum": 9},
    "max_degree": 4,
    "form": "edges",
}
JOB_SCHEMA = {
    "fields": [
        {"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 99}},
        {"name": "job", "type": "string", "categories": list(JOBS), "hierarchy": TREE, "unknown": "drop"},
        {"name": "code", "type": "string", "categories": ["A01", "A02", "B01"], "hierarchy": {"prefixes": [1]}},
        {"name": "day", "type": "date", "format": "%d/%m/%Y", "constraints": {"minimum": "2020-01-01",
                                                                              "maximum": "2020-12-31"}},
    ],
    "missingValues": ["", "?"], "dialect": {"delimiter": ";", "encoding": "utf-8"}, "title": "a table",
    "rules": ["age < 15 -> job == 'Clerk'", "code in ('A01', 'B01') or day >= 2020-02-01"],
}  # fmt: skip


SCHEMAS = (SCHEMA, JOB_SCHEMA, SETS_SCHEMA, GRAPH_SCHEMA)


def _schema_seeds(write: Callable[[Any], str]) -> tuple[bytes, ...]:
    return tuple(write(one).encode() for one in SCHEMAS)


def _use_schema(path: Path, dice: Random) -> None:
    """An accepted schema has a canonical form that is read back as the same schema, and any data can be published."""
    schema = Schema.load(path)
    again = Schema.from_dict(schema.to_dict())
    assert again.hash() == schema.hash(), "the canonical form is read back as another schema"
    if schema.kind == "sets":
        data: Any = (
            BASKETS if schema.form in (None, "list") else pl.DataFrame(_long_rows(), ["id", "item"], orient="row")
        )
        published(data, schema, dice, path.parent)
    elif schema.kind == "graph":
        published([3, 2, 1] if schema.form == "degrees" else EDGES, schema, dice, path.parent)
    else:
        columns = [one.name for one in schema.fields] + ([schema.person] if schema.person else [])
        values = [WORD.decode(), NUMBER.decode(), "1", "2020-01-05", None, "Ash", "\x00", "true"]
        data = pl.DataFrame(dict.fromkeys(columns, values))
        published(data, schema, dice, path.parent)


def _use_hierarchy(path: Path, _dice: Random) -> None:
    tree = load_hierarchy(path.name, JOBS, "job", path.parent)
    assert set(tree.leaves) == set(JOBS), "the leaves are not the declared categories"
    repr(tree)
    tree.to_nested()


def _use_code_book(path: Path, _dice: Random) -> None:
    """An accepted code book gives a draft of a schema that is complete, or that lists what is missing."""
    (path.parent / "made.yaml").write_text(text_of([one.entry() for one in read_code_book(path)]), encoding="utf-8")
    problem = ""
    try:
        Schema.load(path.parent / "made.yaml")
    except SchemaError as error:
        problem = str(error)
    assert "not valid YAML" not in problem, "the draft is not YAML"


def _use_items(path: Path, dice: Random) -> None:
    schema = Schema.from_dict({"kind": "sets", "items": path.name}, base_dir=path.parent)
    published(BASKETS, schema, dice, path.parent, cells="tree", fanout=2)


def _use_node_file(path: Path, dice: Random) -> None:
    unit = "node-isolate" if dice.randrange(2) else "node"
    schema = Schema.from_dict({"kind": "graph", "unit": unit, "nodes": path.name}, base_dir=path.parent)
    published(EDGES, schema, dice, path.parent)


def _arx_seeds() -> tuple[bytes, ...]:
    plain = "Engineer;Professional;*\nLawyer;Professional;*\nDancer;Artist;*\nWriter;Artist;*\nClerk;Clerk;*\n"
    return plain.encode(), plain.replace(";", ",").encode(), plain.replace("Artist", '"Art;ist"').encode()


def _outline_seeds() -> tuple[bytes, ...]:
    plain = "Professional\n  Engineer\n  Lawyer\nArtist\n  Dancer\n  Writer\nClerk\n"
    return plain.encode(), plain.replace("  ", "\t").encode()


BRACES = b"job:discrete | made\n{Any {Professional {Engineer} {Lawyer}} {Artist {Dancer} {Writer}} {Clerk}}\nage: x\n"
LISTED = b"0\n1\n2\nann\n" + "é\n3\n".encode()


def all_targets() -> list[Target]:
    """All targets, each called after what is read."""
    sets, edges, manifests = _set_parquet_seeds(), _edge_seeds(), WhenUsed(lambda: tuple(map(rfc8785.dumps, MANIFESTS)))
    return [
        Target("csv", "data.csv", _csv_seeds(), _use_table),
        Target("parquet", "data.parquet", _parquet_seeds(), _use_table),
        Target("init csv", "data.csv", _csv_seeds(), _use_draft),
        Target("init parquet", "data.parquet", _parquet_seeds(), _use_draft),
        Target("fimi", "data.dat", _fimi_seeds(), _use_sets("fimi")),
        Target("long table", "data.csv", _long_seeds(), _use_sets("long")),
        Target("sets parquet", "data.parquet", sets, _use_set_parquet),
        Target("edges", "data.txt", edges, _use_graph()),
        Target("edges gz", "data.txt.gz", edges, _use_graph(), pack=gzip.compress),
        Target("edges xz", "data.txt.xz", edges, _use_graph(), pack=lzma.compress),
        Target("edges bz2", "data.txt.bz2", edges, _use_graph(), pack=bz2.compress),
        Target("matrix market", "data.mtx", _matrix_seeds(), _use_graph()),
        Target("graph parquet", "data.parquet", sets[1:], _use_graph()),
        Target("degrees", "data.txt", _degree_seeds(), _use_degrees),
        Target("nodes", "nodes.txt", (*_degree_seeds(), LISTED), _use_nodes),
        Target("schema yaml", "schema.yaml", _schema_seeds(yaml.safe_dump), _use_schema, TOKENS + YAML, SCHEMAS),
        Target("schema json", "schema.json", _schema_seeds(json.dumps), _use_schema, TOKENS + YAML, SCHEMAS),
        Target("code book csv", "book.csv", (as_csv(ADULT).encode(),), _use_code_book),
        Target("code book json", "book.json", (as_nist(ADULT).encode(), as_sdv(ADULT).encode()), _use_code_book),
        Target("code book yaml", "book.yaml", (as_smartnoise(ADULT).encode(),), _use_code_book),
        Target("code book xml", "book.xml", (as_ddi(ADULT).encode(),), _use_code_book),
        Target("item file", "items.txt", (LISTED, b"1\n2\n3\n17\n"), _use_items),
        Target("node file", "nodes.txt", (LISTED, b"1\n2\n3\n17\n"), _use_node_file),
        Target("hierarchy arx", "job.csv", _arx_seeds(), _use_hierarchy),
        Target("hierarchy indented", "job.txt", _outline_seeds(), _use_hierarchy),
        Target("hierarchy braces", "job.hchy", (BRACES,), _use_hierarchy),
        Target(
            "hierarchy argus", "job.hrc", (b"A\n@Engineer\n@Lawyer\n@Dancer\nB\n@Writer\n@Clerk\n",), _use_hierarchy
        ),
        Target("hierarchy yaml", "job.yaml", (yaml.safe_dump(TREE).encode(),), _use_hierarchy, TOKENS + YAML, (TREE,)),
        Target("hierarchy json", "job.json", (json.dumps(TREE).encode(),), _use_hierarchy, TOKENS + YAML, (TREE,)),
        *(Target(f"release {kind} {name}", name, part(kind, name), use_part(kind)) for kind, name in PARTS),
        SHAPES,
        Target("release manifest", "release.json", manifests, use_manifest, TOKENS, MANIFESTS),
    ]


TARGETS = {target.name: target for target in all_targets()}


def seeds_of(*names: str) -> list[bytes]:
    """The valid inputs of the targets with these names."""
    return list(chain.from_iterable(TARGETS[name].seeds for name in names))
