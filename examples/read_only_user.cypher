// A user who may ask for code and may change nothing, for `pkg query`, `pkg stats`, `pkg export` and the Browser.
//
// For editions of Neo4j with roles (Enterprise, Aura). The Community edition has none: there every user may do
// everything, and what keeps a question from writing is that PKG asks it in a session that the server lets only read.
//
// Run it in the database `system` as an administrator. Choose the password first (in the Browser with `:param`), and
// put the name of your database in the place of `neo4j`:
//
//   :param password => 'a long one of your own'

CREATE USER pkg_reader IF NOT EXISTS SET PASSWORD $password CHANGE NOT REQUIRED;
CREATE ROLE pkg_read_only IF NOT EXISTS;
GRANT ROLE pkg_read_only TO pkg_reader;

// Enter the database, and read the nodes, their properties and the relationships between them.
GRANT ACCESS ON DATABASE neo4j TO pkg_read_only;
GRANT MATCH {*} ON GRAPH neo4j NODES PkgStore, Fragment, Links, Source, File, Row, Class, Function, FunctionName, Block, Import,
    Library, Call TO pkg_read_only;
GRANT MATCH {*} ON GRAPH neo4j RELATIONSHIPS CONTAINS, NAMES, HAS_BODY, CHILD, IMPORTS, RESOLVES_TO, CALLS, INHERITS,
    OVERRIDES, UNRESOLVED, HOLDS TO pkg_read_only;

// See whether the vector indexes are filled (`pkg doctor`) and ask them.
GRANT SHOW INDEX ON DATABASE neo4j TO pkg_read_only;
GRANT EXECUTE PROCEDURE dbms.components ON DBMS TO pkg_read_only;
GRANT EXECUTE PROCEDURE db.index.vector.queryNodes ON DBMS TO pkg_read_only;
GRANT EXECUTE PROCEDURE db.index.fulltext.queryNodes ON DBMS TO pkg_read_only;

// Then:  PKG_NEO4J_USER=pkg_reader PKG_NEO4J_PASSWORD=... pkg query "retry a request" --store neo4j://host
