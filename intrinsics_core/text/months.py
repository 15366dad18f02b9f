"""The English names of the months and of the days of the week, in lower case."""

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
SHORT_MONTHS = (*(month[:3] for month in MONTHS), "sept")
"""How months are abbreviated; "may" is short already."""
