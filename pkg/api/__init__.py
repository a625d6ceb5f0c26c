"""The typed public API, which the commands use too.

Progress and questions go to callbacks of the caller; nothing here prints.
"""

from pkg.api.answering import generate_answer as generate_answer
from pkg.api.answering import rank_candidates as rank_candidates
from pkg.api.answering import rank_stream as rank_stream
from pkg.api.answering import rank_tasks as rank_tasks
from pkg.api.building import Ask as Ask
from pkg.api.building import Listener as Listener
from pkg.api.building import build_graph as build_graph
from pkg.api.building import remove_source as remove_source
from pkg.api.building import restore_graph as restore_graph
from pkg.api.building import watch_graph as watch_graph
from pkg.api.building import write_corpus as write_corpus
from pkg.api.comparing import diff_graphs as diff_graphs
from pkg.api.comparing import verify_stores as verify_stores
from pkg.api.enhancing import enhance_graph as enhance_graph
from pkg.api.enhancing import estimate_enhancement as estimate_enhancement
from pkg.api.enhancing import list_failures as list_failures
from pkg.api.enhancing import remove_docstrings as remove_docstrings
from pkg.api.graph import RETRIES as RETRIES
from pkg.api.graph import Graph as Graph
from pkg.api.graph import open_graph as open_graph
