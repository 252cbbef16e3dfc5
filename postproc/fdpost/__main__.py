"""`python3 -m fdpost` is `fdplot`, for those who have not installed the package."""

import sys

from .cli import main

sys.exit(main())
