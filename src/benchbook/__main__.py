"""`python -m benchbook`."""

from __future__ import annotations

from benchbook.cli import main

if __name__ == "__main__":
    main()
