"""Find a repository's KiCad projects, run the checks, and turn what they say into one decision."""
