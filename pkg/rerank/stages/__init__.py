"""The stages: each looks at the candidates that are left and says something about every one of them."""
