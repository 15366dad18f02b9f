from importlib.util import find_spec

# Without LlamaIndex there is nothing here to test; `.ci/run` installs it.
collect_ignore_glob = [] if find_spec("llama_index") and find_spec("llama_index.core") else ["test_*.py"]
