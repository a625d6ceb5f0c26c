"""The part of the sandbox that runs inside it: sent to a bare Python as text, so it imports the standard library alone.

``start`` enters the namespaces and gives up every right; ``serve`` answers programs; ``runs`` supervises the process
of one candidate; ``candidate`` is what happens in that process, ``candidate_calls`` a step of many calls there.
"""
