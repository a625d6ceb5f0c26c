"""The service as a server of the Model Context Protocol: few tools, short answers, for programs that write code."""
