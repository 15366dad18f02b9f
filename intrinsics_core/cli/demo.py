"""``intrinsics demo``: a whole RAG chain on shipped text."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import typer

from intrinsics_core.cli import options, settings
from intrinsics_core.cli.exits import USAGE
from intrinsics_core.cli.run import one_line_errors, set_up, stop
from intrinsics_core.protocol.errors import InvalidInput

_ANSWERER = {
    True: "No language model is at work: the answers quote the passage sentence that ranks best.",
    False: "The answers were written by the runtime's language model from the passages that were kept.",
}


def demo(
    question: Annotated[
        list[str] | None,
        typer.Option(
            "--question",
            "-q",
            metavar="TEXT",
            help="Ask this question instead of the built-in ones. May be given more than once; the "
            "questions are turns of one conversation.",
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a report, too: a page in this file.")] = None,
    runtime: options.RuntimeConfig = None,
    framework: Annotated[
        Literal["langchain", "llamaindex", "haystack"], typer.Option(help="Framework of the chain that is run.")
    ] = "langchain",
) -> None:
    """Run a whole RAG chain on text that ships with the package. With --html, write a report."""
    from rich.console import Console
    from rich.text import Text

    from intrinsics_core.demo.story import Question, passages, story
    from intrinsics_core.render import report, terminal

    with one_line_errors():
        if html is not None and not html.absolute().parent.is_dir():
            raise InvalidInput(f"--html {html}: its folder does not exist")
        config = settings.runtime_config(runtime)
    with one_line_errors(settings.secrets(config)):
        engine, _ = set_up(config, None)
        module = _module(framework)
        tale, corpus = story(), passages()
        questions = [Question(text) for text in question] if question else tale.questions
        console = Console()
        notes = [_ANSWERER[engine.profile.name == "embedded"]]
        console.print(Text(tale.title, "bold"), Text(tale.lead, "dim"), Text(notes[0], "dim"), sep="\n")
        turns = []
        with engine:
            for number, turn in enumerate(module.play(tale, questions, corpus, engine), start=1):
                turns.append(turn)
                console.print(terminal.turn(turn, number))
        if html is not None:
            html.write_text(report.report(tale.title, tale.lead, turns, notes=notes), encoding="utf-8")
            console.print(Text(f"The same as a page: {html}", "bold"))


def _module(framework: str) -> ModuleType:
    try:
        return import_module(f"intrinsics_core.demo.{framework}")
    except ModuleNotFoundError as error:
        command = f"pip install 'rag-intrinsics[{framework}]'"
        stop(f"the demo needs {error.name}, which is not installed: {command} (in a clone: pip install -e . "
             f"-e integrations/{framework})", USAGE)  # fmt: skip
