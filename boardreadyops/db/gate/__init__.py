"""The gate `boardreadyops verify transition-writers`: nothing changes the lifecycle but the guarded functions.

`offline.check` reads this package's own files, `live.check` a database. `intent` is what both compare with.
"""
