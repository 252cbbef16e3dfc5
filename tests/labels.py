"""Checks that every test of a build has exactly one of the labels quick and full.

python labels.py CTEST BUILD_FOLDER
"""

import json
import subprocess
import sys


def labels_of(test):
    return [p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"]


def main():
    ctest, folder = sys.argv[1:]
    shown = subprocess.run([ctest, "--show-only=json-v1"], cwd=folder, check=True, capture_output=True)
    wrong = 0
    for test in json.loads(shown.stdout)["tests"]:
        labels = [label for some in labels_of(test) for label in some]
        if len({"quick", "full"} & set(labels)) != 1:
            print(f"{test['name']}: labels {labels}; exactly one of them must be quick or full")
            wrong += 1
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
