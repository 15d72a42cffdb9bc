"""The web: webhook intake, the runner API, the reading API and the pages."""
