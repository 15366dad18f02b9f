"""Verdicts as a scorer of MLflow: `pip install mlflow`, then run this; `mlflow ui` shows what came of it.

Each verdict becomes an assessment of its answer's trace, and its mean a metric of the run.
"""

import mlflow
from mlflow.entities import Feedback
from mlflow.genai.scorers import scorer

from intrinsics_core import audit, run

passages = ["Ada Brink built the mill in 1911.", "A day ticket costs 9 euros."]
data = [
    {"inputs": {"question": "Who built the mill?", "passages": passages}, "outputs": "Ada Brink built it in 1911."},
    {
        "inputs": {"question": "How much is a day ticket?", "passages": passages},
        "outputs": "A day ticket costs 9 euros. It is made of solid gold.",
    },
]


@scorer
def rag_verdicts(inputs, outputs):
    messages = [{"role": "user", "content": inputs["question"]}, {"role": "assistant", "content": outputs}]
    found = run(audit(messages, inputs["passages"]))
    wrong = [sentence.text for sentence in found.sentences if sentence.label in ("partial", "unfaithful")]
    return [
        Feedback(name="answerable", value=found.answerability.label == "answerable"),
        Feedback(name="faithful", value=found.label == "faithful", rationale="\n".join(wrong) or None),
        Feedback(name="wrong_sentences", value=len(wrong)),
    ]


result = mlflow.genai.evaluate(data=data, scorers=[rag_verdicts])
for name, value in sorted(result.metrics.items()):
    print(name, value)
