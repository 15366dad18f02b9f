from importlib.util import find_spec

# Without Haystack there is nothing here to test; `.ci/run` installs it.
collect_ignore_glob = (
    [] if find_spec("haystack") and find_spec("haystack_integrations") else ["test_*.py", "programs/*"]
)
