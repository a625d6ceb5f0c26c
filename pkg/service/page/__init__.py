"""The page to look at a graph: one small web app, served beside the operations or written as a single file."""
