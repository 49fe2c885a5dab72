from tests.packaging.shape import importers, modules, shape


def toy(folder):
    package = folder / "src" / "toy"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('"""A toy."""\n')
    (package / "one.py").write_text(
        '"""One."""\n\nfrom toy import _two\n\n\nclass Same:\n    strangers = 1  # why\n'
    )
    (package / "_two.py").write_text(
        "class Same:\n    pass\n\n\n"
        'def told(what):\n    """Tell.\n\n    Args:\n        what: It.\n    """\n'
        '    return f"all of {what} is told here"\n\n\ndef untold(what):\n    return what\n'
    )
    return folder


def test_the_shape_of_a_toy_is_what_stands_in_its_files(tmp_path):
    figures = {key.split(" (")[0]: value for key, value in shape(toy(tmp_path)).items()}
    assert figures == {
        "lines": 23,
        "code lines": 9,
        "modules": 3,
        "modules whose name begins with _": 1,
        "classes": 2,
        "class names with several homes": 1,
        "modules with exactly one importer": 1,
        "modules that name stranger in code": 1,
        "packages that name stranger in code": 1,
        "public functions with parameters": 2,
        "of these, documented": 1,
        "lines with a comment per code line": 0.1111,
        "sentences in code": 1,
        "packages with most sentences": "_two 1, toy 0, one 0",
    }


def test_an_import_of_a_module_by_its_package_counts_for_the_module(tmp_path):
    assert importers(modules(toy(tmp_path))) == {"toy._two": 1}
