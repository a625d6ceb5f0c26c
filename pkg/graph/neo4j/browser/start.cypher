// Contents of the sources
// Each source with the files with most definitions, and their largest classes and functions.
MATCH (source:Source {state: 'ready'})
WITH source ORDER BY source.name LIMIT 10
WITH collect(source) AS sources
UNWIND sources AS source
CALL (source) {
    OPTIONAL MATCH (source)-[has:CONTAINS]->(file:File|Row)
    RETURN has, file ORDER BY COUNT { (file)-[:CONTAINS]->() } DESC, file.path LIMIT 10
}
WITH sources, source, collect([has, file])[..10 / size(sources)] AS places
UNWIND places AS place
WITH source, place[0] AS has, place[1] AS file
CALL (file) {
    OPTIONAL MATCH (file)-[defines:CONTAINS]->(piece:Class|Function)
    RETURN defines, piece ORDER BY piece.end_line - piece.start_line DESC, piece.start LIMIT 3
}
RETURN source, has, file, defines, piece LIMIT 30
