"""Fit the probabilities of the default to your own examples."""

from pathlib import Path
from tempfile import TemporaryDirectory

from intrinsics_core import answerability, calibrate, run

# A question, a passage that answers it, and one that has its words and does not answer it: the default is too sure of
# those. A calibration needs some tens of different examples of your own; these few only show the steps.
ROWS = [
    ("How much is a day ticket?", "A day ticket costs 9 euros.", "A day ticket costs more than a single one."),
    ("When does the museum open?", "The museum opens at nine.", "The museum opens a new hall in May."),
    ("Who built the mill?", "Ada Brink built the mill in 1911.", "The mill was built beside the quay."),
    ("How long is the crossing?", "The crossing takes 40 minutes.", "The crossing is long in winter."),
    (
        "What is the lighthouse made of?",
        "The lighthouse is made of granite.",
        "The lighthouse was made for ships.",
    ),
    ("Who runs the bakery?", "The bakery is run by the Oduya family.", "The bakery runs a stall on Fridays."),
    ("How many pupils has the school?", "The school has 23 pupils.", "The school has pupils from two islands."),
    ("Where does the bus stop?", "The bus stops at the chapel.", "The bus stops for ten minutes."),
    ("Which fish is sold at the market?", "The market sells herring.", "Fish is sold at the market on Saturdays."),
    ("When was the chapel restored?", "The chapel was restored in 1998.", "The chapel was restored with old oak."),
    ("How deep is the harbour?", "The harbour is six metres deep.", "The harbour is deep enough for the ferry."),
    ("Are dogs allowed on the beach?", "Dogs are allowed on the beach.", "Many dogs run on the beach."),
]
examples = [
    {"messages": [{"role": "user", "content": question}], "documents": [text], "label": label}
    for question, right, wrong in ROWS
    for text, label in ((right, True), (wrong, False))
]
question = answerability([{"role": "user", "content": "Who painted the sign?"}], ["Bea Holt painted the sign."])
with TemporaryDirectory() as folder:
    file = Path(folder) / "answerability.json"
    fitted = calibrate("answerability", examples, path=file)
    runtime = {"kind": "embedded", "calibrations": {"answerability": str(file)}}
    before, after = run(question), run(question, runtime)
# Both are measured on the examples of the fit.
print(f"expected calibration error: {fitted.before.ece:.2f} -> {fitted.after.ece:.2f}")
print(f"{after.label}: {before.probability:.2f} -> {after.probability:.2f}")
