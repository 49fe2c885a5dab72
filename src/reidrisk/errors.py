"""What can go wrong, as a tree.

```
ReidriskError
├── InvalidInput (ValueError)     something given to us is not what it must be
│   └── TooLarge                  it is well formed, but an exact answer is out of reach
└── MissingExtra (ImportError)    an optional library is needed and absent
```

`Unverified` is a warning: what was read may be good, and nobody can tell.

Every message says what is wrong, where, why, and what to do about it.
"""


class ReidriskError(Exception):
    """Anything this package raises on purpose."""


class InvalidInput(ReidriskError, ValueError):
    """An argument, a row or a file is not what it must be."""


class TooLarge(InvalidInput):
    """The input is well formed, but the exact answer would take too long or too much memory."""


class MissingExtra(ReidriskError, ImportError):
    """An optional library is needed for this; the message names the extra to install."""


class Unverified(UserWarning):
    """A file carries no checksums by which damage would be seen."""
