"""Execute the notebooks of the docs and store what comes out.

`python -m tests.notebooks.executing` does so for all of them: after a change of what they print.
"""

import sys
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

_SECONDS = 300
"""After which a cell has failed."""


def read(path):
    """A notebook as it is stored."""
    import nbformat

    return nbformat.read(path, as_version=4)


def executed(path, folder):
    """The same notebook after all its cells were run, in a folder for what it writes."""
    from nbclient import NotebookClient

    client = NotebookClient(
        read(path),
        timeout=_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        coalesce_streams=True,
    )
    return client.execute()


def store(path, folder):
    """Run a notebook and write it back, without what differs from one machine to another."""
    import nbformat

    notebook = executed(path, folder)
    notebook.metadata = read(path).metadata
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for each in NOTEBOOKS:
        store(each, FOLDER)
        sys.stdout.write(f"{each.name}: stored\n")
