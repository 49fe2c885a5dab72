"""The map of the code shows the modules that there are."""

from tests.packaging.architecture import PACKAGE, PAGE, page, tree, without_docstring


def test_page_and_tree_agree():
    command = "`python -m tests.packaging.architecture` rewrites the tree"
    assert PAGE.read_text(encoding="utf-8") == page(), command


def test_every_module_has_a_docstring():
    assert without_docstring(PACKAGE) == []


def test_a_module_without_docstring_is_found_and_a_new_one_is_listed(tmp_path):
    package = tmp_path / "sample"
    (package / "inner" / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text('"""A sample."""\n')
    (package / "inner" / "__init__.py").write_text('"""Inner | things. More."""\n')
    (package / "inner" / "deep" / "__init__.py").write_text('"""Deep things."""\n')
    (package / "inner" / "deep" / "one.py").write_text('"""Holds\none thing. And why."""\n')
    (package / "inner" / "two.py").write_text("VALUE = 1\n")
    assert without_docstring(package) == ["inner/two.py"]
    assert tree(package).splitlines()[-7:] == [
        "Inner \\| things.",
        "",
        "| module | holds |",
        "| --- | --- |",
        "| `deep/` | Deep things. |",
        "| `deep/one.py` | Holds one thing. |",
        "| `two.py` |  |",
    ]
