"""Plain words for how an interval was made: records and JSON have the method's name."""

from __future__ import annotations

from collections.abc import Mapping

METHODS: Mapping[str, str] = {
    "wilson": "Wilson's interval of a share",
    "wilson_over_clusters": "Wilson's interval, each cluster counted once",
    "clopper_pearson": "Clopper and Pearson's exact interval of a share",
    "t": "Student's t",
    "jeffreys": "Jeffreys' interval of a mean of scores",
    "bonett_price": "Bonett and Price's interval of a paired difference",
    "lang_reiczigel": "Lang and Reiczigel's, by sensitivity and specificity",
    "bca": "bootstrap, bias-corrected and accelerated",
    "weighted": "bootstrap by random weights",
    "order_statistics": "from the ranked values",
    "post_stratified": "people's scores, weighted by how often the judge gave each verdict",
    "stratified_jeffreys": "people's scores, each stratum of the draw weighted by its size",
    "ppi++": "people's scores, sharpened by the judge's of all answers",
    "ppi++_bounded": "people's scores, sharpened by the judge's of all answers, kept on the scale",
}
_BY_CLUSTERS = ("_clustered", "_by_correlation")
_BEFORE = "clustered_"


def method_words(name: str) -> str:
    """How an interval was made, in words; a name that has none stands as it is, with spaces."""
    if name in METHODS:
        return METHODS[name]
    bare = name.removeprefix(_BEFORE)
    for ending in _BY_CLUSTERS:
        bare = bare.removesuffix(ending)
    known = METHODS.get(bare, bare.replace("_", " "))
    return known if bare == name else f"{known}, by whole clusters"
