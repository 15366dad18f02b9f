"""The embedded runtime as an embedding model, and what several of them share."""

from intrinsics_core.embedded.runtime import EmbeddedRuntime


def test_embed_gives_one_unit_vector_a_text_near_to_what_says_the_same():
    runtime = EmbeddedRuntime()
    dog, puppy, tax, long, nothing = runtime.embed(
        ["A dog barks.", "The puppy is barking.", "Tax is due in May.", "A dog barks at night. " * 200, ""]
    )
    assert [round(sum(x * x for x in v), 4) for v in (dog, puppy, tax, long, nothing)] == [1] * 5
    cosine = {name: sum(x * y for x, y in zip(dog, v, strict=True)) for name, v in
              (("puppy", puppy), ("tax", tax), ("long", long))}  # fmt: skip
    assert abs(sum(x * y for x, y in zip(dog, nothing, strict=True))) < 0.1  # far from every text
    assert cosine["tax"] < 0.2 < 0.3 < min(cosine["long"], cosine["puppy"])


def test_runtimes_of_one_folder_hold_one_model():
    first, second = EmbeddedRuntime(), EmbeddedRuntime(threads=1)
    for runtime in (first, second):
        assert runtime.embed(["a"])
    assert first.encoder._loaded() is second.encoder._loaded()
    first.close()
    assert second.embed(["still there"])
