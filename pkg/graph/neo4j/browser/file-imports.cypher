// Imports of a file
// The imports of files with a path suffix, and their targets.
// :param file => 'reader.py'
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
MATCH (file:File|Row)
WHERE file.source IN ready AND file.path ENDS WITH $file
WITH ready, file ORDER BY size(file.path), file.source, file.path LIMIT 10
MATCH (file)-[imports:IMPORTS]->(import:Import)
OPTIONAL MATCH (import)-[resolves:RESOLVES_TO]->(target)
WHERE target.source IN ready
RETURN file, imports, import, resolves, target ORDER BY file.source, file.path, imports.line LIMIT 145
