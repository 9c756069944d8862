"""The rooms of src/cantle and what each may import. Imports inside functions and for types count as well.

Only `trusted` and `data` hold records or exact counts on the way to a release; `internal` also reads records, but is
not on that way. `lab` is a package of its own, cantle-lab. A new module belongs to the room in whose folder it is. A
new room needs a line in ROOMS.
"""

from __future__ import annotations

import ast
import sys
from functools import cache

from tests.architecture.sources import dotted, modules, others, ours, walked

VALUES = "trusted.core.answers trusted.core.budget trusted.geometry trusted.core.mixing"
QUESTIONS = "trusted.core.curator trusted.claims trusted.core.keys trusted.core.stop_test"
DRAWS = "trusted.core.curator trusted.core.draws trusted.core.open_run"
DOOR = "interfaces.publishing interfaces.opening interfaces.estimators"
DEMO = "interfaces.demo_data"
SHARED = f"{DOOR} {DEMO} interfaces.cli.options"

ANSWERED = "methods.asking methods.own_error methods.words methods.released_structures "
ANSWERED += "methods.mosaic.model methods.mosaic.results methods.baskets.model "
ANSWERED += "methods.baskets.results methods.diffpart.results "
ANSWERED += "methods.diffpart.tree methods.diffpart.walsh methods.degrees.results "
ANSWERED += "methods.families.layout methods.families.model methods.families.results "
ANSWERED += "methods.diffgen.results methods.diffgen.results methods.rps.one_ways methods.rps.results "
ANSWERED += "methods.journeys.model methods.journeys.results"
"""What follows from noisy answers: these parts of methods ask nothing, so that a release can be read with them."""

ROOMS = {  # every room may also import itself and EVERYWHERE; a room inside a room has its own line
    "trusted": "",
    "schema": "trusted.bounding.node_ids trusted.geometry.value_sets",
    "data": "trusted.bounding trusted.counting trusted.geometry trusted.core.mixing trusted.core.private schema",
    "drawing": f"{VALUES} schema",
    "framework": f"{VALUES} {QUESTIONS} trusted.counting trusted.noise schema drawing methods",
    "methods": f"{VALUES} {QUESTIONS} schema drawing framework",
    "methods.planning": f"{VALUES} schema drawing framework methods",
    # `verify` makes the report of a release again, to compare it with the page in the folder.
    "release": f"{VALUES} trusted.claims.degree_queries trusted.claims.set_queries trusted.claims.sequence_queries "
    f"trusted.ledger schema data drawing release.report {ANSWERED}",
    "release.report": f"trusted.core.budget schema drawing release {ANSWERED}",
    "interfaces": f"{DOOR} trusted schema data drawing framework methods release",
    # The studio holds no record: it starts commands to read records. It uses `data` only to read the header of a file.
    "interfaces.studio": "trusted.core.budget trusted.ledger schema data.draft_schema methods.planning "
    "methods.words release",
    "interfaces.cli": f"{DOOR} {DEMO} trusted schema data drawing methods release audit internal interfaces.studio",
    "audit": f"{DOOR} trusted schema data drawing framework methods release",
    "internal": "trusted.bounding schema data drawing release methods.own_error",
    "lab": f"{SHARED} trusted schema data drawing framework methods methods.planning release audit",
    "top": f"{DOOR} trusted.ledger schema data methods.planning release internal.check_and_evaluate",
}
EVERYWHERE = "errors trusted.core.arrays kernel_choice jit"
STANDARD = set(sys.stdlib_module_names)


def lies_in(name: str, places: str) -> bool:
    """Whether a module is one of these modules, or inside one of these packages.

    >>> lies_in("trusted.noise.base", "schema trusted.noise"), lies_in("trusted.noise", "trusted.noise.base")
    (True, False)
    """
    return any(name == place or name.startswith(f"{place}.") for place in places.split())


def room_of(name: str) -> str:
    """The innermost room that a module lies in.

    >>> room_of("release.report.page"), room_of("release.load"), room_of("errors")
    ('release.report', 'release', 'top')
    """
    return max((room for room in ROOMS if lies_in(name, room)), key=len, default="top")


@cache
def all_imports() -> list[tuple[str, str]]:
    """All imports as pairs: the module, and the module of cantle that it imports."""
    return [(name, to) for name, tree in modules().items() for to in sorted(ours(tree)) if to]


def offenders(of: str, allowed: str) -> list[tuple[str, str]]:
    """Imports of the modules `of` by modules that are neither among them nor among the allowed ones."""
    return [(name, to) for name, to in all_imports() if lies_in(to, of) and not lies_in(name, f"{of} {allowed}")]


def test_rooms_import_only_what_the_table_allows() -> None:
    wrong = [(name, to) for name, to in all_imports() if not may_import(room_of(name), to)]
    assert wrong == []


def may_import(room: str, to: str) -> bool:
    return lies_in(to, EVERYWHERE) or room_of(to) == room or lies_in(to, ROOMS[room])


def test_parts_of_methods_that_releases_read_ask_nothing() -> None:
    inside = [(name, to) for name, to in all_imports() if lies_in(name, ANSWERED)]
    words = "trusted.claims.set_queries trusted.claims.sequence_queries"  # what a question is, not who answers it
    known = f"{VALUES} {words} schema drawing {ANSWERED} {EVERYWHERE}"
    wrong = [(name, to) for name, to in inside if not lies_in(to, known)]
    assert wrong == []


def test_errors_and_kernel_helpers_import_nothing() -> None:
    """These modules may import the names of array types, and nothing else."""
    assert [(name, to) for name, to in all_imports() if lies_in(name, EVERYWHERE) and to != "trusted.core.arrays"] == []


def test_every_folder_is_a_room() -> None:
    assert {name.split(".")[0] for name in modules() if "." in name} == {room for room in ROOMS if "." not in room} - {
        "top"
    }


def test_imports_at_the_top_of_modules_are_not_circular() -> None:
    """This holds inside a room too; imports inside functions may be circular."""
    left = {name: ours(ast.Module(_imports(tree), [])) - {name} for name, tree in modules().items()}
    while free := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in free:
            del left[name]
    assert left == {}


def _imports(tree: ast.Module) -> list[ast.stmt]:
    return [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]


def test_only_the_curator_publish_rehearsals_and_the_audits_use_noise() -> None:
    """A rehearsal sees made-up records, and its noise is known."""
    users = "trusted.claims.cut_candidates interfaces.publishing framework.rehearsal audit lab"
    assert offenders("trusted.noise", f"{DRAWS} {users}") == []


def test_few_modules_open_engines() -> None:
    openers = "interfaces.opening interfaces.publishing framework.rehearsal data audit lab"
    assert offenders("trusted.counting", f"trusted {openers}") == []


def test_trusted_code_asks_engines_through_their_interface_only() -> None:
    wrong = [(name, to) for name, to in offenders("trusted.counting", "") if lies_in(name, "trusted")]
    assert [pair for pair in wrong if pair[1] != "trusted.counting.base"] == []


def test_nothing_imports_the_lab() -> None:
    """It is installed separately, and the command line finds it by its entry points."""
    assert offenders("lab", "") == []


def test_only_the_command_line_and_the_public_names_import_modules_that_show_private_facts() -> None:
    assert {name for name, _ in offenders("internal", "interfaces.cli")} == {""}


def foreign(package: str) -> set[str]:
    """The modules that import a package from outside cantle."""
    return {name for name, tree in modules().items() if package in others(tree)}


def test_trusted_code_needs_numpy_and_the_standard_library_only() -> None:
    outside = {
        "trusted.counting.graph": {"polars"},
        "trusted.bounding.families": {"polars"},
        "trusted.counting.stores": {"polars"},
        "trusted.counting.spark": {"polars", "pyspark"},
        "trusted.counting.spark.cluster": {"pyspark", "py4j", "pyarrow"},
        "trusted.counting.spark.families": {"polars", "pyarrow", "pyspark"},
        "trusted.counting.spark.sets": {"polars", "pyarrow", "pyspark"},
        "trusted.counting.spark.tree": {"pyspark"},
        "trusted.counting.spark.workers": {"polars", "pyarrow", "pyspark"},
        "trusted.ledger.postgres": {"psycopg"},
        "trusted.bounding.persons": {"polars", "pyarrow"},
    }
    foreign_packages = {
        name: others(tree) - STANDARD - {"numpy"} for name, tree in modules().items() if lies_in(name, "trusted")
    }
    assert {name: packages for name, packages in foreign_packages.items() if packages - outside.get(name, set())} == {}


def test_heavy_packages_are_imported_only_where_they_are_needed() -> None:
    homes = {
        "duckdb": "data.arrow_batches",
        "pyspark": "trusted.counting.spark data.spark_files",  # the second imports it for types only
        "py4j": "trusted.counting.spark",
        "ibis": "data.database_tables",
        "sklearn": "lab internal.compare_tables interfaces.estimators",  # the last two import it when needed
        "matplotlib": "lab",
        "scipy": "lab.papers",
        "opendp": "audit",
        "igraph": "drawing.random_graph",
        "jinja2": "release.report.page interfaces.studio.pages",
        "starlette": "interfaces.studio",
        "uvicorn": "interfaces.studio",
        "typer": "interfaces.cli lab.commands",
        "psycopg": "trusted.ledger.postgres",
        "sqlite3": "trusted.ledger.sqlite",
        "pandas": "data.frames drawing.records",
        "numba": "jit",
    }
    wrong = [(name, package) for package in homes for name in foreign(package) if not lies_in(name, homes[package])]
    assert wrong == []


RANDOM_HOMES = f"trusted.noise drawing.counts drawing.random_graph lab {DEMO} interfaces.studio.guard"


def attributes(name: str) -> set[str]:
    """All dotted names in a module, such as `np.random.default_rng` and `os.urandom`."""
    return {dotted(node) for node in walked(modules()[name]) if isinstance(node, ast.Attribute)}


def randomness(name: str) -> set[str]:
    """The names of numpy.random, random, secrets, os.urandom and uuid that a module uses."""
    tree = modules()[name]
    names = others(tree) & {"random", "secrets", "uuid"}
    names |= {
        attribute
        for attribute in attributes(name)
        if attribute.startswith(("np.random", "numpy.random")) or attribute.endswith(".urandom")
    }
    for node in walked(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("numpy", "numpy.random", "os"):
            names |= {alias.name for alias in node.names} & {"random", "default_rng", "Generator", "urandom"}
    return names


def test_few_modules_use_randomness() -> None:
    """These are trusted.noise, public generators in post-processing, the lab, the demo, and the keys of the studio."""
    assert {name: randomness(name) for name in modules() if randomness(name) and not lies_in(name, RANDOM_HOMES)} == {}


def test_the_search_for_randomness_finds_it() -> None:
    """Otherwise the test above could not fail."""
    assert randomness("trusted.noise.sources")
    assert randomness("drawing.counts")
    assert not randomness("trusted.core.curator")


def test_trusted_code_uses_no_generator_of_numpy() -> None:
    trusted = [name for name in modules() if lies_in(name, "trusted")]
    wrong = {
        attribute
        for name in trusted
        for attribute in attributes(name)
        if attribute.startswith(("np.random", "numpy.random"))
    }
    assert wrong == set()
    assert not {"random", "secrets"} & set().union(*(others(modules()[name]) for name in trusted))


def test_no_module_is_called_publish() -> None:
    """Such a module would replace the function `cantle.publish` as soon as something imports it."""
    assert "publish" not in modules()


def test_no_code_asks_which_modules_are_imported() -> None:
    """Whether kernels are used is decided when the data is opened. `sys.modules` would be a second, hidden choice."""
    named = {
        name
        for name, tree in modules().items()
        for node in walked(tree)
        if (isinstance(node, ast.Attribute) and dotted(node) == "sys.modules")
        or (isinstance(node, ast.ImportFrom) and node.module == "sys" and any(a.name == "modules" for a in node.names))
    }
    assert named == set()
