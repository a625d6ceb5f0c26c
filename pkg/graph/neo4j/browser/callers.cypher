// Callers of a function or class
// The callers of a name ('read', or 'Reader.read'); relationships have the line and the confidence.
// :param name => 'read'
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
CALL () {
    MATCH (called:Function {name: split($name, '.')[-1]}) RETURN called
    UNION
    MATCH (called:Class {name: split($name, '.')[-1]}) RETURN called
}
WITH ready, called
WHERE called.source IN ready AND (called.qualname = $name OR NOT $name CONTAINS '.')
WITH ready, called ORDER BY COUNT { ()-[:CALLS]->(called) } DESC, called.source, called.path, called.start LIMIT 20
MATCH (caller:Function)-[calls:CALLS]->(called)
WHERE caller.source IN ready
RETURN caller, calls, called ORDER BY caller.source, caller.path, calls.line LIMIT 280
