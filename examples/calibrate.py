"""Fit the probabilities of the default to your own examples."""

from pathlib import Path
from tempfile import TemporaryDirectory

from intrinsics_core import answerability, calibrate, run

sources = {
    "ticket": "A day ticket costs 9 euros.",
    "museum": "The museum opens at nine.",
    "mill": "Ada built the mill.",
}
questions = {
    "ticket": "How much is a day ticket?",
    "museum": "When does the museum open?",
    "mill": "Who built the mill?",
}
examples = [
    {"messages": [{"role": "user", "content": question}], "documents": [text], "label": about == topic}
    for topic, question in questions.items()
    for about, text in sources.items()
] * 2
with TemporaryDirectory() as folder:
    file = Path(folder) / "answerability.json"
    fitted = calibrate("answerability", examples, path=file)
    runtime = {"kind": "embedded", "calibrations": {"answerability": str(file)}}
    verdict = run(answerability(examples[0]["messages"], examples[0]["documents"]), runtime=runtime)
print("ECE", round(fitted.before.ece, 2), "->", round(fitted.after.ece, 2))
print(verdict.label)
