// A class with its methods
// The classes of a name, their members and base classes.
// :param class => 'Reader'
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
MATCH (class:Class {name: $class})
WHERE class.source IN ready
WITH ready, class ORDER BY class.source, class.path, class.start LIMIT 20
CALL (ready, class) {
    MATCH relation = (class)-[:CONTAINS]->(piece:Class|Function)
    RETURN relation, 0 AS rank, piece.start AS place
    UNION
    MATCH relation = (class)-[:INHERITS]->(base:Class)
    WHERE base.source IN ready
    RETURN relation, 1 AS rank, base.start AS place
    UNION
    MATCH relation = (class)
    RETURN relation, -1 AS rank, 0 AS place
}
RETURN relation ORDER BY rank, class.source, class.path, class.start, place LIMIT 280
