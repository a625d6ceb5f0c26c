// Names of many functions
// The twelve most frequent function names, each with some functions; the table has the counts.
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
MATCH (name:FunctionName)
WHERE name.source IN ready
WITH name, COUNT { (name)-[:NAMES]->() } AS functions
ORDER BY functions DESC, name.name, name.source LIMIT 12
CALL (name) {
    MATCH (name)-[names:NAMES]->(function:Function)
    RETURN names, function ORDER BY function.path, function.start LIMIT 24
}
RETURN functions, name, names, function LIMIT 288
