"""The networks of the paper and their sizes.  Paper: section 8.4, table 1 and figure 4."""

from collections.abc import Iterator
from importlib.util import find_spec

from reidrisk.core.optional import guest
from reidrisk.estimates import Estimate
from reidrisk.learning.models import MODELS, SHAPES
from reidrisk.reproduction.chapter import ChapterStep, Row, Scale, claimed

TITLE = "The networks"
SOURCE = "Carey et al., Measuring Re-identification Risk (2023), table 1 and figure 4"

_MODELS_OF_PAPER = {"Transformer": "paper-transformer", "Transformer-LSTM": "paper-hybrid"}
_TABLE = {
    "Attention layer size, embedding size, decoder hidden dimension": ("width", (1_024, 1_024)),
    "MLP dimension": ("hidden", (4_096, 4_096)),
    "Attention heads": ("heads", (8, 8)),
    "Encoder layers": ("encoder_layers", (6, 6)),
    "Decoder layers": ("decoder_layers", (6, 8)),
    "Dropout rate, also of attention": ("dropout", (0.1, 0.1)),
}
DECODERS, BATCH = ("transformer", "lstm"), 1_536
PARAMETERS, NEAR = 300e6, 0.05
TOPICS, PIECES_OF_WORDS = 349, 32_000


def steps(_scale: Scale) -> Iterator[ChapterStep]:
    """The table, line by line; then what is counted."""
    yield ChapterStep("hyper-parameters", _hyper_parameters)
    yield ChapterStep("number of parameters", lambda: (_parameters(),))
    yield ChapterStep("pair network", lambda: (_pair_network(),))


def _hyper_parameters() -> tuple[Row, ...]:
    """All lines of the table."""
    shapes = [SHAPES[name] for name in _MODELS_OF_PAPER.values()]
    rows = []
    for what, (field, published) in _TABLE.items():
        ours = tuple(getattr(shape, field) for shape in shapes)
        rows.append(_line(what, published, ours))
    batches = tuple(MODELS[name].training.batch for name in _MODELS_OF_PAPER.values())
    rows.append(_line("Training batch size", (BATCH, BATCH), batches))
    decoders = tuple(shape.decoder for shape in shapes)
    rows.append(
        Row(
            where="Table 1",
            what="Decoders that are the published ones, of two",
            published="2 (Transformer; LSTM)",
            ours=Estimate.computed(
                sum(one == other for one, other in zip(decoders, DECODERS, strict=True))
            ),
            unit="",
            mark=claimed(holds=decoders == DECODERS),
            why="The shapes of the models paper-transformer and paper-hybrid; encoders of both are "
            "Transformers.",
        )
    )
    return tuple(rows)


def _line(what: str, published: tuple[float, ...], ours: tuple[float, ...]) -> Row:
    alike = len(set(published)) == 1
    said = f"{published[0]:,}" if alike else " and ".join(f"{one:,}" for one in published)
    mine = " and ".join(f"{one:,}" for one in ours)
    return Row(
        where="Table 1",
        what=f"{what}, Transformer and Transformer-LSTM",
        published=said,
        ours=Estimate.computed(ours[-1]),
        unit="",
        mark=claimed(holds=ours == published),
        why=f"Ours are {mine}, of the models paper-transformer and paper-hybrid, which are defined "
        "here and not trained; shown is the second.",
    )


def _parameters() -> Row:
    """Counted on torch's device without memory."""
    where, what = "Table 1", "Parameters of the Transformer-LSTM"
    if find_spec("torch") is None:
        why = "Counting needs torch, which is not installed: pip install 'reidrisk[torch]'."
        return Row(where, what, "300M", None, "", "not run", why)
    translated, for_topics = (_count(tokens) for tokens in (PIECES_OF_WORDS, TOPICS))
    return Row(
        where=where,
        what=what,
        published="300M",
        ours=Estimate.computed(translated),
        unit="",
        mark=claimed(holds=abs(translated - PARAMETERS) <= NEAR * PARAMETERS),
        why=f"Counted with tables of {PIECES_OF_WORDS:,} symbols, as in translation, within "
        f"{NEAR:.0%}; with {TOPICS} topics there are {for_topics:,}. The paper does not say which "
        "it counts.",
    )


def _count(tokens: int) -> int:
    torch = guest("torch")
    from reidrisk.learning.translators import Translator  # noqa: PLC0415  needs torch

    with torch.device("meta"):
        network = Translator(SHAPES["paper-hybrid"], tokens, slots=8)
    return sum(one.numel() for one in network.parameters())


def _pair_network() -> Row:
    """Figure 4: the picture has the sizes, the text has not."""
    return Row(
        where="Figure 4",
        what="Sizes of the layers of the network that compares two sequences",
        published="in the picture",
        ours=None,
        unit="",
        mark="not reproducible",
        why="The text does not give the sizes and the network is trained on 20 million users whose "
        "data are not public. The attack pair-network is built as the text describes it, small "
        "enough for a laptop (decision 26).",
    )
