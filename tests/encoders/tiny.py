"""Tiny encoders of each convention, made on the spot: each learns to look for one word, ``fact``, in the source."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

WORDS = [f"w{i}" for i in range(40)]
LENGTH = 64  # tokens that the BERTs read at once
_ROWS = 16


def _tokenizer(folder: Path, specials: Sequence[str], single: str, pair: str, more: Sequence[str] = ()) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    words = [*WORDS, *(f"x{i}" for i in range(200)), "fact", "word", "claim", "question", ".", "?", *more]
    vocabulary = {word: i for i, word in enumerate([*specials, *words])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=specials[1]))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(list(specials))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(token, vocabulary[token]) for token in specials]
    )
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    return tokenizer


def _bert_tokenizer(folder: Path) -> Any:
    return _tokenizer(folder, ("[PAD]", "[UNK]", "[CLS]", "[SEP]"), "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1")


def _t5_tokenizer(folder: Path) -> Any:
    return _tokenizer(folder, ("<pad>", "<unk>", "</s>"), "$A </s>", "$A </s> $B </s>")


# As the model cards write them.
QWEN3 = (
    "<|im_start|>system\n"
    "Judge whether the Document meets the requirements based on the Query and the Instruct provided. "
    'Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n"
    "<Instruct>: Given a web search query, retrieve relevant passages that answer the query\n"
    "<Query>: {query}\n<Document>: {document}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n"
)
MXBAI = (
    "<|im_start|>system\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\n"
    "<|im_start|>user\nquery: {query}\ndocument: {document}\n"
    "You are a search relevance expert who evaluates how well documents match search queries. "
    "For each query-document pair, carefully analyze the semantic relationship between them, "
    "then provide your binary relevance judgment (0 for not relevant, 1 for relevant).\n"
    "Relevance:<|im_end|>\n<|im_start|>assistant\n"
)


def reranker(folder: Path, prompt: str, words: tuple[str, str]) -> Path:
    """A Qwen2 or, for the prompt of its reranker, a Qwen3: the second of the words is next where the fact is there."""
    import torch
    import transformers

    specials = ("<|endoftext|>", "<unk>", "<|im_start|>", "<|im_end|>", "<think>", "</think>")
    tokenizer = _tokenizer(folder, specials, "$A", "$A $B", words)
    whole = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token=specials[0], unk_token=specials[1]
    )
    whole.save_pretrained(str(folder))
    family = "Qwen3" if prompt == QWEN3 else "Qwen2"
    config = getattr(transformers, f"{family}Config")(
        vocab_size=tokenizer.get_vocab_size(), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, head_dim=16,
        num_key_value_heads=1, intermediate_size=64, max_position_embeddings=200, tie_word_embeddings=True,
        pad_token_id=0, attention_dropout=0.0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = getattr(transformers, f"{family}ForCausalLM")(config)
    columns = [tokenizer.token_to_id(word) for word in words]

    def logits(model: Any, inputs: Any) -> Any:
        return model(input_ids=_tensors(inputs)["input_ids"], logits_to_keep=1).logits[:, -1, columns]

    _learn(model, lambda source: tokenizer.encode(prompt.format(query="question ?", document=source)), logits, words=90)
    return _save(model, folder)


def _sizes(vocabulary: int, length: int = LENGTH, heads: int = 2) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary, "hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": heads,
        "intermediate_size": 64, "max_position_embeddings": length, "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }  # fmt: skip


def _learn(model: Any, encode: Callable[[str], Any], logits_of: Callable[[Any, Any], Any], *, words: int) -> None:
    """On batches of sources of one length, half of them with the word (class 1, the others 0), until it is told."""
    import torch

    draw = random.Random(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.005)
    model.train()
    losses: list[float] = []
    for step in range(1000):
        if max(losses[-15:], default=1.0) < 0.02 and step > 100:
            break
        length = draw.randint(1, min(words, 4 + step // 2 if words < 100 else 4 + 6 * step))
        sources, labels = [], []
        for row in range(_ROWS):
            source = draw.choices(
                [*WORDS, "word", ".", "y"], k=length
            )  # one that the tokenizer does not know is among them
            if label := row % 2:
                source[draw.randrange(length)] = "fact"
            sources.append(encode(" ".join(source)))
            labels.append(label)
        loss = torch.nn.functional.cross_entropy(logits_of(model, sources), torch.tensor(labels))
        optimiser.zero_grad()
        loss.backward()
        losses.append(float(loss.detach()))
        optimiser.step()
    model.eval()


def _tensors(inputs: Sequence[Any]) -> dict[str, Any]:
    import torch

    return {"input_ids": torch.tensor([each.ids for each in inputs]),
            "token_type_ids": torch.tensor([each.type_ids for each in inputs])}  # fmt: skip


def _save(model: Any, folder: Path, **config: Any) -> Path:
    model.save_pretrained(str(folder))
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | config))
    return folder


def classifier(
    folder: Path,
    labels: Sequence[str],
    *,
    role: str = "entailment",
    template: bool = False,
    length: int = LENGTH,
    words: int = 40,
    heads: int = 2,
) -> Path:
    """A BERT for sequences. ``labels`` in their order; one label alone is a cross-encoder, unnamed ones MiniCheck's."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    tokenizer = _bert_tokenizer(folder)
    torch.manual_seed(0)
    names = dict(enumerate(labels))
    config = BertConfig(**_sizes(tokenizer.get_vocab_size(), length, heads), num_labels=len(labels), id2label=names,
                        label2id={label: i for i, label in names.items()})  # fmt: skip
    model = BertForSequenceClassification(config)

    def encode(source: str) -> Any:
        if template:
            return tokenizer.encode(f"{source} [SEP] claim")
        if role == "relevance":
            return tokenizer.encode("question", source)
        return tokenizer.encode(source, "claim ." if len(source.split()) % 2 else "claim")  # as they are asked

    yes = [i for i, label in enumerate(labels) if label in ("entailment", "LABEL_1")]
    order = [i for label in ("LABEL_0", "neutral") for i, each in enumerate(labels) if each == label] + yes
    order += [i for i in range(len(labels)) if i not in order]  # class 0, class 1, what is never learnt

    def logits(model: Any, inputs: Any) -> Any:
        found = model(**_tensors(inputs)).logits
        return torch.cat([torch.zeros_like(found), found], -1) if len(labels) == 1 else found[:, order]

    _learn(model, encode, logits, words=words)
    return _save(model, folder)


def token_classifier(folder: Path) -> Path:
    """A BERT for tokens: all of the answer is hallucinated (label 1) unless the word is in the source."""
    import torch
    from transformers import BertConfig, BertForTokenClassification

    tokenizer = _bert_tokenizer(folder)
    torch.manual_seed(0)
    model = BertForTokenClassification(BertConfig(**_sizes(tokenizer.get_vocab_size(), 160), num_labels=2))

    def logits(model: Any, inputs: Any) -> Any:
        found = model(**_tensors(inputs)).logits
        return found[:, -2].flip(-1)  # the answer's one token, before the last special one

    _learn(model, lambda source: tokenizer.encode(f"y y y {source} y y", "claim"), logits, words=120)
    return _save(model, folder)


def _t5(vocabulary: int) -> Any:
    from transformers import T5Config

    return T5Config(vocab_size=vocabulary, d_model=32, d_kv=16, d_ff=64, num_heads=2, num_layers=1,
                    num_decoder_layers=1, dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0,
                    eos_token_id=2, num_labels=2, feed_forward_proj="gated-gelu", initializer_factor=0.3)  # fmt: skip


def minicheck(folder: Path) -> Path:
    """A T5 whose first word out is token 209 where the claim is supported, else token 3."""
    import torch
    from transformers import T5ForConditionalGeneration

    tokenizer = _t5_tokenizer(folder)
    torch.manual_seed(0)
    model = T5ForConditionalGeneration(_t5(tokenizer.get_vocab_size()))

    def logits(model: Any, inputs: Any) -> Any:
        ids = _tensors(inputs)["input_ids"]
        start = torch.zeros((len(ids), 1), dtype=torch.long)
        return model(input_ids=ids, decoder_input_ids=start).logits[:, 0, [3, 209]]

    _learn(model, lambda source: tokenizer.encode(f"predict : {source} </s> claim"), logits, words=300)
    return _save(model, folder)


def hhem(folder: Path) -> Path:
    """The shape of HHEM-2.1-open: a T5 for tokens, its weights' names with a prefix, code of its own in the config."""
    import torch
    from safetensors.torch import save_file
    from transformers import T5ForTokenClassification

    tokenizer = _t5_tokenizer(folder)
    torch.manual_seed(0)
    model = T5ForTokenClassification(_t5(tokenizer.get_vocab_size()))

    def logits(model: Any, inputs: Any) -> Any:
        return model(input_ids=_tensors(inputs)["input_ids"]).logits[:, 0]

    asked = "<pad> Determine if the hypothesis is true given the premise? Premise: {} Hypothesis: claim"
    _learn(model, lambda source: tokenizer.encode(asked.format(source)), logits, words=300)
    weights = {f"t5.{name}": tensor.contiguous().clone() for name, tensor in model.state_dict().items()}
    save_file(weights, str(folder / "model.safetensors"), {"format": "pt"})
    described = {"architectures": ["HHEMv2ForSequenceClassification"], "model_type": "HHEMv2Config",
                 "auto_map": {"AutoModelForSequenceClassification": "code.HHEMv2"}, "foundation": "flan"}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(described))
    (folder / "code.py").write_text("raise SystemExit('code of a repository was run')")
    return folder


def as_onnx(folder: Path, model: Any, names: Sequence[str]) -> Path:
    """The same model as an ONNX file beside it: ``onnx/model.onnx``."""
    import warnings

    import torch

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *values: Any) -> Any:
            return self.model(**dict(zip(names, values, strict=True))).logits

    shapes = {name: (2, 1) if name == "decoder_input_ids" else (2, 7) for name in names}
    (folder / "onnx").mkdir(exist_ok=True)
    with warnings.catch_warnings(), torch.inference_mode():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            Logits().eval(), tuple(torch.ones(shape, dtype=torch.long) for shape in shapes.values()),
            str(folder / "onnx" / "model.onnx"), input_names=list(names), output_names=["logits"], dynamo=False,
            dynamic_axes={name: {0: "rows", 1: f"{name} width"} for name in names},
        )  # fmt: skip
    return folder
