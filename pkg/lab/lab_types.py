"""Types of the parameters and results of the public functions of pkg.lab, imported when a hint is resolved."""

from __future__ import annotations

from pkg.lab.audit.leak_audit import AuditReport as AuditReport
from pkg.lab.bench.graph_bench import BenchReport as BenchReport
from pkg.lab.datasets.dataset_plan import Dataset as Dataset
from pkg.lab.datasets.dataset_plan import DatasetStep as DatasetStep
from pkg.lab.evaluation.code.code_evaluation import EvaluationListen as EvaluationListen
from pkg.lab.evaluation.code.code_report import CodeReport as CodeReport
from pkg.lab.evaluation.code.gate_calibration import Calibration as Calibration
from pkg.lab.evaluation.questions.qa_records import QaFolder as QaFolder
from pkg.lab.evaluation.questions.qa_records import QaItem as QaItem
from pkg.lab.evaluation.questions.qa_records import QaOptions as QaOptions
from pkg.lab.evaluation.repository.repository_items import FoundItems as FoundItems
from pkg.lab.evaluation.retrieval.retrieval_evaluation import RetrievalReport as RetrievalReport
from pkg.lab.lab_options import BenchOptions as BenchOptions
from pkg.lab.lab_options import DatasetOptions as DatasetOptions
from pkg.lab.lab_options import DocumentOptions as DocumentOptions
from pkg.lab.lab_options import EvaluatedMode as EvaluatedMode
from pkg.lab.lab_options import RankingName as RankingName
from pkg.lab.lab_options import SolverOptions as SolverOptions
from pkg.models.text_model import TextModel as TextModel
