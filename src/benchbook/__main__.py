"""`python -m benchbook`."""

from benchbook.cli import main

if __name__ == "__main__":
    main()
