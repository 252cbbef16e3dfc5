"""Finds references to headings that do not exist: a page of docs/, a comma, and the heading in quotes."""

import re
import subprocess
import sys
from pathlib import Path

# Between the words of a reference a comment may begin a new line.
REFERENCE = re.compile(r'(docs/[\w/.-]+\.md)[`)]*,[\s*#/]+"([^"]+)"')


def headings(document):
    """The headings of a Markdown file."""
    return {
        line.lstrip("#").strip() for line in document.read_text(encoding="utf-8").splitlines() if line.startswith("#")
    }


def dangling(root, files):
    """Messages about references that lead nowhere."""
    found = []
    for name in files:
        try:
            text = (root / name).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        for document, words in REFERENCE.findall(text):
            heading = re.sub(r"\s*\n[\s*#/]*", " ", words)
            if not (root / document).exists() or heading not in headings(root / document):
                found.append(f'{name}: {document} has no heading "{heading}"')
    return found


def main():
    root = Path(__file__).resolve().parent.parent
    listed = subprocess.run(
        ["git", "ls-files", ":!postproc/tests"],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    found = dangling(root, listed.stdout.split("\n")[:-1])
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
