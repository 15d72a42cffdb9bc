"""The guided tour: a real webhook becomes a run, a check, a leased execution, a decision and a page, on one machine."""
