"""Blocks of code on the documents' pages."""

import re


def blocks(page, *languages):
    """The texts of a page's fenced blocks in these languages, in their order; "" is that of blocks without one. All
    blocks if no language is named."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    return [text for language, text in found if language in languages or not languages]
