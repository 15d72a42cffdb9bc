"""What runners and the server say to each other: wire messages and credentials, without any I/O."""
