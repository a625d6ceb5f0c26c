"""Inner part of the sandbox, sent to a bare Python as text; it imports only the standard library.

``start`` enters the namespaces, drops all privileges and serves requests; ``runs`` supervises the process of one
candidate; ``candidate`` runs in that process, as do ``call_answers`` and ``candidate_calls`` for steps of many calls.
"""
