"""A service that cannot be opened leaves nothing open, for which the next test in the process would be blamed."""

from __future__ import annotations

import gc
import warnings

import pytest
from tests.agreement.service import Fate, RealService
from tests.contracts import EXAMPLES, plan_of


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_what_is_open_is_closed_where_opening_fails() -> None:
    path = EXAMPLES[0]
    service = RealService(plan_of(path.read_bytes(), path.name), [("no such resource", {})], Fate())
    with pytest.raises(KeyError, match="no such resource"):
        service.__enter__()
    assert service._loop.is_closed()
    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")
        del service
        gc.collect()
    assert [each.message for each in left if each.category is ResourceWarning] == []
