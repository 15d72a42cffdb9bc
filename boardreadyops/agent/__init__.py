"""The runner: takes a lease, fetches the commit, checks the board, reports. Speaks only HTTP to the server."""
