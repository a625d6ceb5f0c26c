"""Documents of questions with solutions, searched and shown to a model as in the paper on RAG (U-02 to U-06)."""
