"""The Python behind the entry points in Scripts: one package for each job.

`checks` looks at the tree, `packaging` completes the Debian packages, `pictures` makes the pictures in
Vectors, and `vault_reader` is the second reader of the vault format. `tests` contains the unit tests,
which `Scripts/test scripts` runs. All of it runs with Debian's Python. Nothing here imports a part of
Watchword.
"""
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
