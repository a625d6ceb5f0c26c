"""The page that shows a graph: a small web app, served beside the operations or written as a single file."""
