"""Exit codes of the commands, beside 0 (all went well) and 1 (some of it did not)."""

USAGE = 2
INTERRUPTED = 130  # 128 + SIGINT, what shells expect
READER_GONE = 141  # 128 + SIGPIPE
