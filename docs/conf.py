"""The site made of docs/: run/docs builds it. Everything is Markdown that a code host shows as well."""

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
