"""A gate for CI: labelled questions in a repository, and a build that fails when answers get worse than a bound."""
