"""Programming Knowledge Graph: a graph of Python code that answers questions.

>>> import pkg
>>> report = pkg.build("path/to/repository", store="sqlite:///graph.db")
>>> with pkg.open_graph("sqlite:///graph.db") as graph:
...     result = graph.query("parse a date from a string")
"""

from pkg.api import Graph, build, open_graph, rerank, rerank_stream, restore, verify
from pkg.errors import PkgError
from pkg.indexing.build import BuildReport
from pkg.model import Coverage, Cut, Helper, Hit, Node, QueryResult, Skip
from pkg.rerank.candidates import Candidate, Ranked, Ranking, Task

__version__ = "0.1.0"

__all__ = [
    "BuildReport",
    "Candidate",
    "Coverage",
    "Cut",
    "Graph",
    "Helper",
    "Hit",
    "Node",
    "PkgError",
    "QueryResult",
    "Ranked",
    "Ranking",
    "Skip",
    "Task",
    "build",
    "open_graph",
    "rerank",
    "rerank_stream",
    "restore",
    "verify",
]
