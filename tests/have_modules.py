"""Fails, with their names, if modules are not installed: have_modules.py MODULE..."""

import sys
from importlib.util import find_spec

missing = [name for name in sys.argv[1:] if find_spec(name) is None]
sys.exit(f"no Python module {', '.join(missing)}" if missing else 0)
