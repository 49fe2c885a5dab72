"""The exceptions that the package raises.

```
ReidriskError
├── InvalidInput (ValueError)     something given to us is not what it must be
│   └── TooLarge                  it is well formed, but an exact answer is out of reach
└── MissingExtra (ImportError)    an optional library is needed and absent
```

`Unverified` is a warning: what was read may be good, and nobody can tell. So is `Assumed`: the file
was read in the only way that makes sense of it, and that may be wrong.

Every message says what is wrong, where, why, and what to do about it. The words may change; the
`code` of an error, such as `duplicate-user`, names the kind of fault and stays.
"""


class ReidriskError(Exception):
    """Anything this package raises on purpose.

    Args:
        message: What is wrong, where, why, and what to do about it.
        code: The kind of fault, stable across versions; that of the class if not given.

    Example:
        >>> try:
        ...     rr.TopicsApi(noise=5)
        ... except rr.ReidriskError as problem:
        ...     print(f"{problem.code}: {problem}")
        not-a-probability: noise is a probability between 0 and 1, got 5; did you mean 0.05?
    """

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class InvalidInput(ReidriskError, ValueError):
    """An argument, a row or a file is not what it must be.

    Args:
        message: What is wrong, where, and what to do.
        code: Stable name of the kind of fault, for programs.

    Example:
        >>> rr.ItemSamples(samples=0)
        Traceback (most recent call last):
            ...
        reidrisk.errors.InvalidInput: samples is a whole number of at least 1, got 0
    """

    code = "invalid-input"


class TooLarge(InvalidInput):
    """The input is well formed, but the exact answer would take too long or too much memory.

    Args:
        message: What is wrong, where, and what to do.
        code: Stable name of the kind of fault, for programs.

    Example:
        >>> people = rr.data.synthetic_topics(users=1_000, topics=40, epochs=8, seed=1)
        >>> try:
        ...     rr.TopicsApi(topics=40).rows(people)
        ... except rr.TooLarge as problem:
        ...     print(str(problem).split(";")[0])
        40 tokens in 8 slots make 8e+12 sequences for each of 1,000 users
    """

    code = "too-large"


class MissingExtra(ReidriskError, ImportError):
    """An optional library is needed for this; the message names the extra to install.

    Args:
        message: What is wrong, where, and what to do.
        code: Stable name of the kind of fault, for programs.

    Example:
        >>> problem = rr.MissingExtra("torch is needed: pip install 'reidrisk[torch]'")
        >>> isinstance(problem, ImportError)
        True
    """

    code = "missing-extra"


class Assumed(UserWarning):
    """Something about a file was taken to be so, and nobody said it."""


class Unverified(UserWarning):
    """A file carries no checksums by which damage would be seen."""
