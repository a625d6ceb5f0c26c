"""The Neo4j store: the same graph on a server that teams share, query and look at (P-10, P-15 to P-17, A-01, A-15).

How the graph lies in the database: every node of docs/schema.md is a node with its label and its properties, every
relationship a relationship. Two labels are internal: Fragment keeps a text once, held by the files or rows that
contain it (HOLDS), and PkgStore keeps the generation and the encoder. Read cypher.py for all statements, writing.py
for how a write stays all or nothing.
"""
