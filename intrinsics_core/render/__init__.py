"""Results to look at: HTML for notebooks and reports, rich for terminals. Text is never markup here."""
