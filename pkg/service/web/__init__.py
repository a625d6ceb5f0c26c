"""Parts that all HTTP front ends share: access, refusal of foreign requests, and the server."""
