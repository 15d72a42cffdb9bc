"""The commands: one module per group, each thin, imported only when it is called."""
