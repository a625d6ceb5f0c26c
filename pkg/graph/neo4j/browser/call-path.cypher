// Path between two functions
// The shortest call chains from functions of one name to functions of another.
// :param start => 'main'
// :param goal => 'read'
MATCH (source:Source {state: 'ready'})
WITH collect(source.name) AS ready
CALL (ready) {
    MATCH (start:Function {name: split($start, '.')[-1]})
    WHERE start.source IN ready AND (start.qualname = $start OR NOT $start CONTAINS '.')
    RETURN start ORDER BY COUNT { (start)-[:CALLS]->() } DESC, start.source, start.path, start.start LIMIT 5
}
CALL (ready) {
    MATCH (goal:Function {name: split($goal, '.')[-1]})
    WHERE goal.source IN ready AND (goal.qualname = $goal OR NOT $goal CONTAINS '.')
    RETURN goal ORDER BY COUNT { ()-[:CALLS]->(goal) } DESC, goal.source, goal.path, goal.start LIMIT 5
}
WITH ready, start, goal WHERE start <> goal
MATCH path = allShortestPaths((start)-[:CALLS*..13]->(goal))
WHERE all(node IN nodes(path) WHERE node.source IN ready)
RETURN path ORDER BY length(path) LIMIT 20
