"""Questions in words about links of the graph, such as 'who calls X': recognised, and answered from the graph."""
