"""The words of the report: those of docs/glossary.md, which is not installed with the package. A test compares both."""

GLOSSARY = (
    ("release", "the folder that is published: synthetic records, noisy counts, a statement and a receipt"),
    ("record", "what one row describes; in set-valued data one set of items"),
    ("difference", "a column that rules such as `end >= start` count in place of one of their columns"),
    ("region", 'a part of the public domain, such as "age 17 to 40 and sex F"; cutting a region gives smaller regions'),
    ("leaf", "a region that is not cut further, and is counted"),
    ("group", "one row of `groups.parquet`: a leaf (or leaf and class, set of items, degree) with its noisy count"),
    ("budget", "epsilon, the total privacy loss that a release may cause; exact, in units of 10^-9"),
    ("charge", "a part of the budget that pays for one question, taken before the records are looked at"),
    (
        "receipt",
        "the list of all charges: what each question cost; regions that were asked other questions have lists of their "
        "own",
    ),
    ("unit", "whom the promise protects: one record, one person with up to k records, one node, or one edge"),
    (
        "neighbours",
        "two inputs that differ by one unit; the promise says that their releases are nearly equally likely",
    ),
    (
        "curator",
        "the person who holds the data; in the code, the one object that sees records, budget and noise together",
    ),
    (
        "connection",
        "how strongly two columns depend on each other, as Cramér's V: 0 is none, 1 means that one column determines "
        "the other",
    ),
    (
        "measured together",
        "two columns that a noisy table counts together, so that their connection is kept; others are connected only "
        "through other columns",
    ),
    (
        "percentage point",
        "the unit of an error of a share: 10 % right to ±2 percentage points lies between 8 % and 12 %",
    ),
    ("accuracy", "how far the released records are off, measured privately with a share of the budget"),
    ("limits", "the smallest and largest count that the counts of single columns, or of a whole cell, allow"),
    ("workload", "the random counting questions of that measurement; public, drawn after the records"),
    ("preset", "a set of parameters: `default`, or `paper` for a method as it was published"),
)
