// Largest functions
// The fifty functions with the most lines and their positions; the table has the number of lines.
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
MATCH (function:Function)
WHERE function.source IN ready
WITH function, function.end_line - function.start_line + 1 AS lines
ORDER BY lines DESC, function.source, function.path, function.start LIMIT 50
MATCH (place:File|Row|Class|Function)-[contains:CONTAINS]->(function)
RETURN lines, function, contains, place ORDER BY lines DESC, function.source, function.path LIMIT 250
