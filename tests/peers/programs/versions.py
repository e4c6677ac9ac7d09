"""The versions of the tools that are installed here, by their packages' names."""

from __future__ import annotations

import json
import sys
from importlib.metadata import version

print(json.dumps({name: version(name) for name in sys.argv[1:]}))  # noqa: T201
