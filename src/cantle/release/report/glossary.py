"""The words of the report: those of docs/glossary.md, which is not installed with the package. A test compares both."""

GLOSSARY = (
    ("release", "the folder that is published: synthetic records, noisy counts, a statement and a receipt"),
    ("record", "what one row describes; in set-valued data one set of items"),
    ("region", 'a part of the public domain, such as "age 17 to 40 and sex F"; cutting a region gives smaller regions'),
    ("leaf", "a region that is not cut further, and is counted"),
    ("group", "one row of `groups.parquet`: a leaf (or leaf and class, set of items, degree) with its noisy count"),
    ("budget", "epsilon, the total privacy loss that a release may cause; exact, in units of 10^-9"),
    ("charge", "a part of the budget that pays for one question, taken before the records are looked at"),
    ("receipt", "the list of all charges, on every kind of path from the whole domain to a leaf"),
    ("unit", "whom the promise protects: one record, one person with up to k records, one node, or one edge"),
    (
        "neighbours",
        "two inputs that differ by one unit; the promise says that their releases are nearly equally likely",
    ),
    (
        "curator",
        "the person who holds the data; in the code, the one object that sees records, budget and noise together",
    ),
    ("accuracy", "how far the released records are off, measured privately with a share of the budget"),
    ("together", "two columns that a released table has both; of other pairs, a release may have lost a connection"),
    ("limits", "the smallest and largest count that the counts of single columns, or of a whole cell, allow"),
    ("workload", "the random counting questions of that measurement; public, drawn after the records"),
    ("preset", "a set of parameters: `default`, or `paper` for a method as it was published"),
)
