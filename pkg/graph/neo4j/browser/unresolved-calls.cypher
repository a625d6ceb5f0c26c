// Unresolved calls by reason
// Unresolved calls, some for each reason, most frequent first; the table has reason and count.
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
MATCH (call:Call)
WHERE call.source IN ready
WITH ready, call.reason AS reason, count(*) AS calls
ORDER BY calls DESC, reason LIMIT 10
CALL (ready, reason) {
    MATCH (function:Function)-[unresolved:UNRESOLVED]->(call:Call)
    WHERE call.reason = reason AND call.source IN ready AND function.source IN ready
    RETURN function, unresolved, call LIMIT 15
}
RETURN reason, calls, function, unresolved, call LIMIT 150
