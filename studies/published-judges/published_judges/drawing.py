"""Plain SVG on a ground of its own, so that it can be read on a light page and on a dark one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 760
_STYLE = """
text{font:13px system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#1f2328}
.ground{fill:#fff;stroke:#d1d9e0}.head{font-weight:600}.quiet{fill:#59636e}.small{font-size:12px}
.line{stroke:#d1d9e0}.right{fill:#2f6fb5}.open{fill:#c6ccd3}.wrong{fill:#c8442f}.zone{fill:#dcefe1}
.mark{stroke:#1f2328;stroke-width:1.5}.dot{fill:#2f6fb5}.ring{fill:#fff;stroke:#2f6fb5;stroke-width:2}
.bad{fill:#b3321f}.on{fill:#fff}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#151b23;stroke:#3d444d}.quiet{fill:#9198a1}
.line{stroke:#3d444d}.right{fill:#3a78c2}.open{fill:#4a525c}.wrong{fill:#c94a35}.zone{fill:#1d3a26}
.mark{stroke:#e6edf3}.dot{fill:#4b8fdb}.ring{fill:#151b23;stroke:#4b8fdb}.bad{fill:#f0806c}.on{fill:#fff}}
"""


def number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    given = f' class="{kind}"' if kind else ""
    return f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{given}>{escape(words)}</text>'


def rect(x: float, y: float, width: float, height: float, kind: str) -> str:
    places = f'x="{number(x)}" y="{number(y)}" width="{number(max(width, 0))}" height="{number(height)}"'
    return f'<rect {places} class="{kind}"/>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "line") -> str:
    return f'<path d="M{number(x1)},{number(y1)}L{number(x2)},{number(y2)}" class="{kind}"/>'


def circle(x: float, y: float, kind: str) -> str:
    return f'<circle cx="{number(x)}" cy="{number(y)}" r="5" class="{kind}"/>'


def picture(height: float, title: str, description: str, pieces: Iterable[str]) -> str:
    """A whole picture; screen readers say its title and its description."""
    size = f'width="{WIDTH}" height="{number(height)}" viewBox="0 0 {WIDTH} {number(height)}"'
    ground = f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{number(height - 1)}" rx="6" class="ground"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title about">'
    said = f'<title id="title">{escape(title)}</title><desc id="about">{escape(description)}</desc>'
    return "\n".join([head, said, f"<style>{_STYLE}</style>", ground, *pieces, "</svg>", ""])


@dataclass(frozen=True, slots=True)
class Scale:
    """Shares from `low` to `high` as places from `left` to `right`; what is outside is drawn at the edge."""

    left: float
    right: float
    low: float
    high: float

    def at(self, share: float) -> float:
        inside = min(self.high, max(self.low, share))
        return self.left + (inside - self.low) / (self.high - self.low) * (self.right - self.left)

    def grid(self, ticks: Sequence[float], top: float, bottom: float) -> list[str]:
        """Lines down, with percentages below."""
        lines = [line(self.at(tick), top, self.at(tick), bottom) for tick in ticks]
        return lines + [
            text(self.at(tick), bottom + 16, f"{100 * tick:.0f} %", "quiet small", "middle") for tick in ticks
        ]

    def whisker(self, low: float, high: float, y: float) -> str:
        return line(self.at(low), y, self.at(high), y, "mark")
