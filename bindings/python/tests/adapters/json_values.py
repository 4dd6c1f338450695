"""Random JSON, for what foreign messages may carry."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

texts = st.text(st.characters(codec="utf-8"), max_size=20)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
json_objects = st.dictionaries(texts, json_values, max_size=3)
