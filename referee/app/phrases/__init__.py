"""What the referee says, one module a language with the same keys; `rows` tells which rule brings which words about."""
