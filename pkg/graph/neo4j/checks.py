"""Look for damage and contradictions in a graph on a server: statements that count what must be none."""

from __future__ import annotations

from pkg.graph.neo4j.cypher import FRAGMENT, HOLDS, LINKS, STRUCTURE_TYPES
from pkg.graph.neo4j.session import Reader

CHECKS = {
    "pieces without a fragment": f"""MATCH (n:Class|Function|Block|Import) WHERE n.source IN $ready
        AND NOT EXISTS {{ MATCH (f:{FRAGMENT} {{id: n.fragment}}) }} RETURN count(n) AS count""",
    "fragments without terms; run pkg build again": f"""MATCH (f:{FRAGMENT}) WHERE f.source IN $ready
        AND f.terms IS NULL RETURN count(f) AS count""",
    "fragments without a file or row": f"""MATCH (f:{FRAGMENT}) WHERE f.source IN $ready
        AND NOT EXISTS {{ ()-[:{HOLDS}]->(f) }} RETURN count(f) AS count""",
    "files or rows without a source": """MATCH (u:File|Row) WHERE u.source IN $ready
        AND NOT EXISTS { (:Source)-[:CONTAINS]->(u) } RETURN count(u) AS count""",
    "pieces that nothing contains": f"""MATCH (n:Class|Function|Block|Import) WHERE n.source IN $ready
        AND NOT EXISTS {{ ()-[:{STRUCTURE_TYPES}]->(n) }} RETURN count(n) AS count""",
    "embedded nodes without a vector": """MATCH (n:Function|Block|FunctionName|Import) WHERE n.source IN $ready
        AND n.embedding IS NULL RETURN count(n) AS count""",
    "functions without a name node": """MATCH (f:Function) WHERE f.source IN $ready
        AND COUNT { (f)<-[:NAMES]-() } = 0 RETURN count(f) AS count""",
    "function names without a function": """MATCH (n:FunctionName) WHERE n.source IN $ready
        AND NOT EXISTS { (n)-[:NAMES]->(:Function) } RETURN count(n) AS count""",
    "calls and libraries that nothing refers to": """MATCH (n:Call|Library) WHERE n.source IN $ready
        AND NOT EXISTS { (n)<-[:UNRESOLVED|RESOLVES_TO]-() } RETURN count(n) AS count""",
    "links without a file or row": f"""MATCH (l:{LINKS}) WHERE l.source IN $ready
        AND NOT EXISTS {{ MATCH (u:File|Row) WHERE u.id = l.id }} RETURN count(l) AS count""",
}


def find_faults(reader: Reader) -> list[str]:
    """Name each fault with how often it was found."""
    counts = {fault: reader.run(statement, ready=reader.view.ready)[0]["count"] for fault, statement in CHECKS.items()}
    return [f"{count} {fault}" for fault, count in counts.items() if count]
