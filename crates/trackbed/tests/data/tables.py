"""Holds the Parquet files of a folder against its CSV files in DuckDB, value by value, and runs what
docs/files.md shows.

usage: tables.py FOLDER PAGE. In FOLDER are NAME.csv and NAME.parquet of each table, and a run directory,
results.
"""

import os
import re
import sys
from pathlib import Path

import duckdb

folder, page = Path(sys.argv[1]), Path(sys.argv[2])
os.chdir(folder)
tables = sorted(path.stem for path in Path().glob("*.parquet"))
assert len(tables) >= 4, tables
for table in tables:
    described = duckdb.sql(f"describe select * from '{table}.parquet'").fetchall()
    types = {name: kind for name, kind, *_ in described}
    text = f"read_csv('{table}.csv', all_varchar = true)"
    names = [name for name, *_ in duckdb.sql(f"describe select * from {text}").fetchall()]
    assert names == list(types), (names, types)
    columns = ", ".join(f'cast("{name}" as {kind}) as "{name}"' for name, kind in types.items())
    as_csv, as_parquet = f"select {columns} from {text}", f"select * from '{table}.parquet'"
    count = duckdb.sql(as_csv).aggregate("count(*)").fetchall()[0][0]
    assert count == duckdb.sql(as_parquet).aggregate("count(*)").fetchall()[0][0], table
    for one, other in [(as_csv, as_parquet), (as_parquet, as_csv)]:
        differ = duckdb.sql(f"({one}) except all ({other})").fetchall()
        assert not differ, (table, differ[:3])
    print(f"{table}: {count} rows, {types}")

for language in ["sql", "python"]:
    shown = re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    assert len(shown) >= 2, f"{page} shows little {language}"
    for example in shown:
        if language == "sql":
            for statement in filter(str.strip, example.split(";")):
                rows = duckdb.sql(statement).fetchall()
                assert rows, statement
        else:
            exec(compile(example, str(page), "exec"), {})
    print(f"{language}: {len(shown)} examples")
