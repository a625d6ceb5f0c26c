"""The Neo4j store: the graph on a server that teams share, query and browse (P-10, P-15 to P-17, A-01, A-15).

Every node of docs/schema.md is a node with its label and properties, every relationship a relationship. Labels of the
store itself: Fragment stores a text once, connected with the files or rows that contain it by HOLDS; Links stores the
notes of a file or row; PkgStore stores the generation and the encoder. All statements are in cypher.py;
neo4j_writing.py explains why writes are atomic.
"""
