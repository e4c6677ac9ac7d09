"""Studies are programs beside the package, in folders of their own: here they are found."""

from __future__ import annotations

import sys

from support import ROOT

sys.path.insert(0, str(ROOT / "studies/published-judges"))
