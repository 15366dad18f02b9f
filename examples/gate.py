"""Answer only what the documents answer."""

from intrinsics_core import answerability, run_many

passages = ["A day ticket costs 9 euros. Children under six travel free."]
questions = ["How much is a day ticket?", "Is there a first class?"]
calls = [answerability([{"role": "user", "content": question}], passages) for question in questions]
for question, verdict in zip(questions, run_many(calls), strict=True):
    print(verdict.label, "|", question)
