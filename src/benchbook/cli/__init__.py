"""cli: commands. They parse, call the library's functions, and print; no logic.

Exit codes: 0 good; 1 the answer is no (a gate, a verification, a regression); 2 wrong use; 3 something broke.
"""

from benchbook.cli.main import main

__all__ = ["main"]
