"""The pairs of the palette's colours that stand on one another, and the contrast that each needs."""

from __future__ import annotations

__all__ = ["PAIRS"]

# (foreground, background, contrast that WCAG 2.2 AA asks for): 4.5 for text, 3 for what a figure is read by.
PAIRS: tuple[tuple[str, str, float], ...] = (
    ("ink", "paper", 4.5),
    ("ink", "panel", 4.5),
    ("quiet", "paper", 4.5),
    ("quiet", "panel", 4.5),
    ("link", "paper", 4.5),
    ("link", "panel", 4.5),
    ("good", "paper", 4.5),
    ("good", "good-wash", 4.5),
    ("bad", "paper", 4.5),
    ("bad", "bad-wash", 4.5),
    ("doubt", "paper", 4.5),
    ("doubt", "doubt-wash", 4.5),
    ("none", "paper", 4.5),
    ("none", "none-wash", 4.5),
    ("ink", "good-wash", 4.5),
    ("ink", "bad-wash", 4.5),
    ("ink", "doubt-wash", 4.5),
    ("ink", "none-wash", 4.5),
    ("value", "panel", 3.0),
    ("value", "good-wash", 3.0),
    ("edge", "paper", 3.0),
    ("edge", "panel", 3.0),
    ("passed", "paper", 3.0),
    ("failed", "paper", 3.0),
    ("silent", "paper", 3.0),
    ("unscored", "paper", 3.0),
    ("absent", "paper", 3.0),
)
