"""Run code written by a model in a sandbox (P-24, A-08); for its limits see docs/security.md."""

from pkg.sandbox.protocol import DEFAULT, Kind, Limits, Program, Result, Sandbox, Step, Verdict
from pkg.sandbox.values import render_value
from pkg.sandbox.worker_pool import BACKENDS, choose_backend, open_sandbox

__all__ = [
    "BACKENDS",
    "DEFAULT",
    "Kind",
    "Limits",
    "Program",
    "Result",
    "Sandbox",
    "Step",
    "Verdict",
    "choose_backend",
    "open_sandbox",
    "render_value",
]
