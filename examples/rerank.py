"""The passages that answer a question first."""

from intrinsics_core import reranking, run

passages = [
    "The harbour of Port Ellery has two cranes.",
    "Fog is common from March to May.",
    "Ada Brink built the tide mill at Port Ellery in 1911.",
]
ranking = run(reranking([{"role": "user", "content": "Who was the engineer of the mill?"}], passages))
for row in ranking.ranking:
    print(row.rank, round(row.score, 2), passages[row.index])
