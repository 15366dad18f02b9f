"""Judge the sentences of an answer while it is written."""

from intrinsics_core import StreamChecker

written = ["Ada Brink built ", "the mill in 1911. ", "It is made ", "of glass."]
checker = StreamChecker([{"role": "user", "content": "Who built the mill?"}], ["Ada Brink built the mill in 1911."])
for piece in written:
    for sentence in checker.feed(piece):
        print(sentence.label, "|", sentence.text)
whole = checker.close()
print(whole.sentences[-1].label, "|", whole.sentences[-1].text)
print("the whole:", whole.label)
