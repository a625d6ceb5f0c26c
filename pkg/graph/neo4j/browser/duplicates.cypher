// Duplicates
// Functions of equal text, sorted by lines to save; the table has copies and lines.
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
MATCH (function:Function)
WHERE function.source IN ready
WITH ready, function.content_hash AS content, min(function.end_line - function.start_line) + 1 AS lines,
    sum(COUNT { ()-[:CONTAINS]->(function) }) AS copies
WHERE copies > 1
WITH * ORDER BY (copies - 1) * lines DESC, content LIMIT 12
CALL (ready, content) {
    MATCH (place)-[contains:CONTAINS]->(function:Function {content_hash: content})
    WHERE function.source IN ready
    RETURN function, contains, place ORDER BY function.source, function.path, function.start LIMIT 8
}
OPTIONAL MATCH (name:FunctionName)-[names:NAMES]->(function)
RETURN copies, lines, function, contains, place, names, name ORDER BY (copies - 1) * lines DESC, content LIMIT 96
