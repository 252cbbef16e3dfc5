"""Checks the documents: length of lines, of README.md and of the changelog, links, paths of files, versions, and that
every key, option and exit code is named. Prints what is wrong and returns 1.

usage: docs_check.py [VERSION]   (in the project's root) VERSION: check only that all places name it, for a release
"""

import pathlib
import re
import subprocess
import sys

from records import anchor, history, unknown

LINE, README_LINES, CELL = 120, 120, 220  # bytes, lines, characters
CHANGELOG_LINES = 100  # of one version
WIDE = re.compile(r"^\s*(\||!?\[[^]]*\]\S*$)|https?://")  # tables, and links, cannot be broken


def documents():
    names = subprocess.run(
        ["git", "ls-files", "*.md"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    ).stdout.split()
    return [pathlib.Path(name) for name in names if pathlib.Path(name).exists()]


def long_lines(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        if len(line.encode()) > LINE and not WIDE.search(line):
            yield f"{path}:{number}: {len(line.encode())} bytes, at most {LINE}"


def wide_cells(path, text):
    """Cells of tables that are too long to be read in a table. The address of a link does not count."""
    for number, line in enumerate(text.splitlines(), 1):
        for cell in re.sub(r"\]\([^)]*\)", "]", line).split(" | ") if line.startswith("|") else ():
            words = cell.removeprefix("| ").removesuffix(" |")
            if len(words) > CELL:
                yield f"{path}:{number}: a cell of {len(words)} characters, at most {CELL}: {words[:40]} ..."


def anchors(text):
    """Names of a document's headings in links."""
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def dead_links(path, text):
    prose = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, heading = target.partition("#")
        file = (path.parent / name) if name else path
        if not file.exists():
            yield f"{path}: link to {target}: there is no such file"
        elif (
            path.parts[0] == "docs"
            and file.suffix == ".md"
            and not file.resolve().is_relative_to(pathlib.Path("docs").resolve())
        ):
            yield f"{path}: link to {target}: the site has only what is in docs/"
        elif heading and file.suffix == ".md" and heading not in anchors(file.read_text()):
            yield f"{path}: link to {target}: there is no such heading"


FOLDERS = "src|kernels|tests|docs|config|run|postproc|cmake|examples"


def lost_files(path, text):
    """Paths from the root such as `src/main.c` that are not there. NAME stands for one to be made."""
    for number, line in enumerate(text.splitlines(), 1):
        for name in re.findall(rf"`((?:{FOLDERS})/[\w/.-]+)[`:]", line):
            if "NAME" not in name and not pathlib.Path(name).exists():
                yield f"{path}:{number}: there is no {name}"


def missing(page, what, names):
    text = pathlib.Path(page).read_text()
    return [
        f"{page} does not name the {what} {name}"
        for name in names
        if f"`{name}`" not in text and f"| {name} |" not in text
    ]


def missing_keys(keys):
    """The (section, key) pairs without a row under the section's heading."""
    page = "docs/reference/configuration.md"
    sections = dict(re.findall(r"^## \\\[(\w+)\\\]\n(.*?)(?=^## |\Z)", pathlib.Path(page).read_text(), re.M | re.S))
    return [
        f"{page} does not name the key {section}.{key}"
        for section, key in keys
        if f"| `{key}` |" not in sections.get(section, "")
    ]


def missing_options(program, options):
    """Options, or keys, that the program's section does not name."""
    page = "docs/reference/command-line.md"
    sections = dict(re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", pathlib.Path(page).read_text(), re.M | re.S))
    return [
        f"{page} does not name {option} of {program}"
        for option in options
        if not re.search(rf"(?<![\w.-]){re.escape(option)}(?![\w.-]*\w)", sections.get(program, ""))
    ]


def found(path, pattern):
    return re.findall(pattern, pathlib.Path(path).read_text(), re.MULTILINE)


def lost_functions(page):
    """Places such as `src/main.c: perform` of which the file, or the function in it, is not there."""
    folders = [pathlib.Path(folder) for folder in (".", "kernels/cpu", "kernels/cuda")]
    places = re.findall(r"`([\w/]+\.(?:c|h|cuh)): (\w+)`", pathlib.Path(page).read_text())
    files = {file: [folder / file for folder in folders if (folder / file).exists()] for file, _ in places}
    return [
        f"{page}: there is no {function} in {file}"
        for file, function in places
        if not any(re.search(rf"\b{function}\)?\(", path.read_text()) for path in files[file])
    ]


def without_source(page):
    """Sections of a page of figures without a line *Source:*. A heading that only holds subsections needs none."""
    sections = re.findall(r"^(##+) ([^\n]*)\n(.*?)(?=^(##+)|\Z)", pathlib.Path(page).read_text(), re.M | re.S)
    return [
        f"{page}: no line *Source:* in the section {heading}"
        for level, heading, text, following in sections
        if following in ("", "##", level) and not re.search(r"^\*Source:\*", text, re.MULTILINE)
    ]


def templates():
    """GitLab's templates that differ from the bodies of GitHub's; those have a YAML head, too."""
    pairs = {pathlib.Path(".github/pull_request_template.md"): ".gitlab/merge_request_templates/Default.md"}
    for path in pathlib.Path(".github/ISSUE_TEMPLATE").glob("*.md"):
        pairs[path] = f".gitlab/issue_templates/{path.name}"
    bodies = {path: re.sub(r"\A---\n.*?\n---\n+", "", path.read_text(), flags=re.DOTALL) for path in pairs}
    return [
        f"{pairs[path]} is not as {path}" for path in pairs if pathlib.Path(pairs[path]).read_text() != bodies[path]
    ]


def versions(released):
    """Files whose version is not `released` or, if that is None, not the one of CMakeLists.txt. A version that is to be
    released has a date in the changelog."""
    said = {
        "CMakeLists.txt": found("CMakeLists.txt", r"^project\(fdapp VERSION ([\w.]+)"),
        "CITATION.cff": found("CITATION.cff", r"^version: (\S+)$"),
        "postproc/fdpost/__init__.py": found("postproc/fdpost/__init__.py", r'^__version__ = "(.*)"$'),
        "CHANGELOG.md": found("CHANGELOG.md", r"^## (\d\S*?)(?:,? .*)?$")[:1],
    }
    wanted = released or said["CMakeLists.txt"][0]
    faults = [f"{path}: no version {wanted}" for path, names in said.items() if names != [wanted]]
    if released and not found("CHANGELOG.md", rf"^## {re.escape(released)}, \d{{4}}-\d\d-\d\d$"):
        faults.append(f"CHANGELOG.md has no line ## {released}, YEAR-MONTH-DAY")
    return faults


def long_entries():
    """Versions of which the changelog says too much to be read."""
    text = pathlib.Path("CHANGELOG.md").read_text()
    entries = re.findall(r"^## (\S+?)(?:,? [^\n]*)?\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    return [
        f"CHANGELOG.md: {len(text.splitlines())} lines of version {version}, at most {CHANGELOG_LINES}"
        for version, text in entries
        if len(text.splitlines()) > CHANGELOG_LINES
    ]


def report(faults):
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


def main():
    if len(sys.argv) > 1:
        return report(versions(sys.argv[1]))
    faults = versions(None)
    faults += long_entries() + templates() + without_source("docs/explanation/performance.md")
    known = history()
    for path in documents():
        text = path.read_text()
        faults += [f"{path}: {name} is no revision in the history" for name in unknown(text, known)] if known else []
        faults += dead_links(path, text)
        faults += lost_files(path, text)
        faults += long_lines(path, text)
        faults += wide_cells(path, text)
    faults += lost_functions("CONTRIBUTING.md")
    lines = len(pathlib.Path("README.md").read_text().splitlines())
    if lines > README_LINES:
        faults.append(f"README.md: {lines} lines, at most {README_LINES}")
    faults += missing_keys(found("src/config/config_table.c", r'^ *\{"([a-z_]*)", "([a-z_]*)",'))
    sources = found("src/settings/settings.h", r'^  X\((\w+), "the same of')
    faults += missing_keys([("source", f"formula_{name}") for name in sources])
    codes = found("src/base/status.h", r"^ *X\(\w+, (\d+),")
    faults += missing("docs/reference/exit-codes.md", "exit code", sorted(set(codes)))
    for program, source in (("fdapp", "src/main.c"), ("fdbench", "src/bench/bench_options.c")):
        options = found(source, r'\{"([a-z-]+)", (?:no|required)_argument')
        faults += missing_options(program, [f"--{option}" for option in options])
    options = found("src/distance/distance_options.c", r'\{"(--[a-z-]+)", DISTANCE_|\{"([a-z.]+)", KIND_')
    faults += missing_options("fddistance", [option or key for option, key in options])
    return report(faults)


sys.exit(main())
