"""How a text model is run: what is asked of all providers, and what each of them alone needs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What may be said of a model beside its name; None leaves the choice to the provider."""

    window: int | None = None  # tokens that prompt and answer may have together
    parallel: int | None = None  # requests at once
    threads: int | None = None  # of a model that runs in this process
    timeout: float | None = None  # seconds that a service may say nothing
