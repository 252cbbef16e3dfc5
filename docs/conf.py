"""The site made of docs/: run/docs builds it. Everything is Markdown or a notebook, which a code host shows as well."""

import json
import pathlib

from myst_parser.parsers.sphinx_ import MystParser

project = "fdapp"
author = "fdapp contributors"
copyright = author
extensions = ["myst_parser"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
myst_url_schemes = {"http": None, "https": None, "headers": {"url": "../headers/{{path}}"}}  # from a page of a folder
linkcheck_ignore = [r"\.\./headers/"]  # made by Doxygen, after the site; run/docs looks for it
exclude_patterns = ["requirements.txt"]
html_theme = "furo"
html_title = "fdapp"
html_show_sphinx = False
nitpicky = True


class NotebookParser(MystParser):
    """A notebook, which is kept without outputs, is a page of its texts and of blocks of code."""

    supported = ("notebook",)

    def parse(self, inputstring, document):
        texts = []
        for cell in json.loads(inputstring)["cells"]:
            text = "".join(cell["source"])
            texts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        texts.insert(1, f"{{download}}`Download the notebook <{pathlib.Path(document['source']).name}>`")
        super().parse("\n\n".join(texts), document)


def setup(app):
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
