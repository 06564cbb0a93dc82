"""What GET shows of a row that is written, where its entity tags are of all that it shows: other rows, too.

If-Match then asks of a write what it asks of GET: whether this caller would be given that tag still (RFC 9110 13.1.1).
It is asked in the transaction of the write, before it; and after it, what GET would show now gives the tag of the
response."""

from __future__ import annotations

from collections.abc import Sequence

from ninefold.expressions.evaluate import Env
from ninefold.plan import environment
from ninefold.plan import writes as plan
from ninefold.plan.environment import Environment
from ninefold.runtime.messages import conditional
from ninefold.runtime.messages.encode import Shape
from ninefold.runtime.store.protocol import Row, Session, Stored
from ninefold.runtime.store.statements import Prepared


class Represented:
    """A representation of the plan, made ready."""

    def __init__(self, planned: plan.Represented) -> None:
        self._before = Prepared(planned.before)
        self._after = None if planned.after is None else Prepared(planned.after)
        self._shape = Shape(planned.response, planned.before.columns)

    @property
    def tag_prefix(self) -> str:
        return self._shape.tag_prefix

    def asked(self, env: Env) -> tuple[str, list[Stored]]:
        """The select of the row as it is, by the path."""
        return self._before.bound(env)

    def narrow(self, env: Environment, if_match: str, rows: Sequence[Row]) -> None:
        """Of the revisions that If-Match names, leave those whose tag GET would give now."""
        if env[environment.IF] == {"there": True}:
            return  # any will do
        if not conditional.names(if_match, self._opaque(rows, env)):
            env[environment.IF] = {"there": True, "match": []}

    def now(self, session: Session, env: Env) -> str | None:
        """The opaque part of the tag that GET would give of the row `$row`; None: it would show none."""
        return None if self._after is None else self._opaque(session.run(*self._after.bound(env)), env)

    def _opaque(self, rows: Sequence[Row], env: Env) -> str | None:
        if not rows:
            return None
        return self._shape.opaque(rows[0], self._shape.body(rows[0], (), env), env)
