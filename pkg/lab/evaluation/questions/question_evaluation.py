"""Answer questions about a repository with several systems, and store their evidence and answers (Q-18).

Without a model only the search is measured: the rank of the right file among those of the evidence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from glob import escape

from pkg.encode.encoder import Encoder
from pkg.errors import QueryError
from pkg.generation.ask.ask_options import AskOptions
from pkg.generation.ask.question_answer import PreparedQuestion, QuestionAnswerer
from pkg.generation.ask.repository_answer import RepositoryAnswer
from pkg.graph.store import GraphStore
from pkg.lab.evaluation.questions.qa_records import QaFolder, QaItem, QaOptions, QaRecord, System, name_system
from pkg.lab.lab_options import Listen
from pkg.models.prompt_batch import BatchingModel, write_each
from pkg.models.text_model import TextModel
from pkg.retrieval.deps.link_facts import LinkFacts
from pkg.retrieval.deps.paths import find_files, list_sources
from pkg.retrieval.evidence.evidence import Gathered
from pkg.retrieval.evidence.evidence_options import EvidenceOptions
from pkg.retrieval.evidence.gather_evidence import EvidenceReader
from pkg.retrieval.evidence.window_evidence import WindowIndex

BATCH = 16  # answers between two writes to the file, if the model batches


@dataclass
class QuestionEvaluation:
    """One evaluation: the graph, the questions, and the model."""

    store: GraphStore
    encoder: Encoder
    items: Sequence[QaItem]
    options: QaOptions
    model: TextModel | None = None
    windows: WindowIndex | None = None
    label: str = ""  # of the model, as a part of the names of its systems; "" if it is the only one

    def run(self, folder: QaFolder, count: Listen = lambda system, done, total: None) -> None:
        """Answer the questions missing in the folder; raises the errors of the search and the model."""
        for system in self.options.choose_systems(self.model is not None):
            name = name_system(system, self.label)
            waiting = [each for each in self.items if (name, each.item.id) not in folder.records]
            done = len(self.items) - len(waiting)
            count(name, done, len(self.items))
            for start in range(0, len(waiting), self._batch):
                for record in self._ask(system, waiting[start : start + self._batch]):
                    folder.add(record)
                    done += 1
                    count(name, done, len(self.items))

    @property
    def _batch(self) -> int:
        if self.options.batch or self.model is None:
            return self.options.batch or 1
        return BATCH if isinstance(self.model, BatchingModel) else self.model.parallel

    def _ask(self, system: System, items: Sequence[QaItem]) -> Iterator[QaRecord]:
        """Collect evidence for some questions, and answer those that are not refused in one batch.

        Refused questions come first, then each answer as soon as it is written.
        """
        asked = [(each, self._open(system, each)) for each in items]
        prepared = [(each, answerer, _prepare(answerer, each)) for each, answerer in asked]
        for item, _, each in prepared:
            if each.conversation is None:
                yield self._make_record(system, item, each, each.answer)
        waiting = [entry for entry in prepared if entry[2].conversation is not None]
        prompts = [each.conversation for _, _, each in waiting if each.conversation is not None]
        for index, text in write_each(self.model, prompts, waiting[0][1].decoding) if self.model and waiting else ():
            item, answerer, each = waiting[index]
            yield self._make_record(system, item, each, answerer.finish(each, text))

    def _open(self, system: System, item: QaItem) -> QuestionAnswerer:
        gold = self._find_gold(item) if self.options.oracle_file else set()
        paths = [escape(path) for _, path in sorted(gold)] or None
        retriever = "graph" if system == "none" else system
        evidence = EvidenceOptions(retriever, self.options.budget, source=self.options.source, path=paths)
        options = AskOptions(evidence, system != "none", max_tokens=self.options.max_tokens, seed=self.options.seed)
        reader = EvidenceReader(self.store, evidence, self.windows)
        if retriever != "graph":
            reader.index(self.encoder)
            self.windows = reader.windows
        sources = [each.name for each in list_sources(self.store, self.options.source)]
        facts = LinkFacts(self.store, self.options.source)
        gather = partial(reader.read, self.encoder)
        return QuestionAnswerer(gather, ", ".join(sources), self.model, options, check_link=facts.check)

    def _make_record(
        self, system: System, item: QaItem, prepared: PreparedQuestion, answer: RepositoryAnswer
    ) -> QaRecord:
        gold = self._find_gold(item)
        files = answer.gathered.list_files()
        ranks = [rank for rank, file in enumerate(files, 1) if file in gold]
        cited = [each for statement in answer.statements for each in statement.citations if not each.is_added]
        paths = {path for _, path in gold}
        shown = answer.shown if self.model is not None else ()
        name = name_system(system, self.label)
        return QaRecord(
            item.item.id, name, item.item.type, ranks[0] if ranks else None, bool(gold), answer.gathered.fits,
            len(answer.gathered.pieces), answer.text, answer.is_refused, answer.reason, len(answer.statements),
            sum(each.is_supported for each in answer.statements), len(cited), sum(each.is_wrong for each in cited),
            any(place.rpartition(":")[0] in paths for place in answer.places),
            tuple({name: getattr(piece, name) for name in _SHOWN} for piece in shown),
            answer.usage.prompt_tokens, answer.usage.completion_tokens, round(answer.usage.seconds, 3),
        )  # fmt: skip

    def _find_gold(self, item: QaItem) -> set[tuple[str, str]]:
        """Return the right file in the graph, found by its whole path, or by the end of it."""
        if not item.path:
            return set()
        sources = list_sources(self.store, self.options.source)
        return {(node.source, node.path) for node in find_files(self.store, item.path, sources)}


def _prepare(answerer: QuestionAnswerer, item: QaItem) -> PreparedQuestion:
    """Collect evidence for a question; an invalid one is refused, and the others continue."""
    try:
        return answerer.prepare(item.item.question)
    except QueryError as fault:
        gathered = Gathered(item.item.question, (), False, notes=(str(fault),))
        return PreparedQuestion(RepositoryAnswer(item.item.question, gathered, is_refused=True, reason=str(fault)))


_SHOWN = ("path", "start_line", "end_line", "title", "content")
