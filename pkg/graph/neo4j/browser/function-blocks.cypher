// A function with its blocks
// The body of each function of a name ('read', or 'Reader.read') with its branches, loops and other blocks, outer ones first.
// :param function => 'read'
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
MATCH (function:Function {name: split($function, '.')[-1]})
WHERE function.source IN ready AND (function.qualname = $function OR NOT $function CONTAINS '.')
WITH function ORDER BY function.source, function.path, function.start LIMIT 20
MATCH tree = (function)-[:HAS_BODY|CHILD*0..]->(piece)
RETURN tree ORDER BY length(tree), function.source, function.path, piece.start LIMIT 300
