"""Arrays, back-references and macros in SQL: relations, and what is asked of them."""

from __future__ import annotations

from ninefold.diagnostics.frozen import replace
from ninefold.expressions.scope import member_type
from ninefold.expressions.tree import All, Call, Comprehension, MakeArray, Select, Typed
from ninefold.sql.fragment import Fragment, identifier, join
from ninefold.sql.relations import (
    Binding,
    Bindings,
    FirstRow,
    Key,
    ReferredRow,
    Relation,
    Scalar,
    TableRow,
    either,
    exists,
    unless,
)
from ninefold.sql.rows import Rows
from ninefold.values import Anything, Array, Integer, Object, Row, Text


class Arrays(Rows):
    """An array is a relation until it has to be one value; then it is JSON."""

    def _measured(self, call: Call, function: str, array: Typed, scope: Bindings) -> Scalar:
        """`size` and `sum` of an array."""
        if function == "sum":
            if not isinstance(call.type, Integer):
                raise self.refuse(
                    call,
                    "the sum of numbers depends on how they are added, and the database adds in another way",
                    "an amount is exact as an integer of the smallest unit, such as cents",
                )
            summed = self.relation(array, scope)
            item = self._of_binding(array, summed.element)
            alias = self.fresh()
            source = "(" + summed.query(item.text + " AS v") + f") AS {alias}"
            text = "(" + self.dialect.total(f"{alias}.v", source) + ")"
            return Scalar(unless(summed.failures, text), call.type, fails=True)
        if isinstance(array, Select) and array.through in ("field", "member"):
            stored = self.scalar(array, scope)
            return Scalar(self.dialect.length(stored.text), call.type, fails=stored.fails or stored.nullable)
        counted = self._settled(self.relation(array, scope))
        text = "(" + counted.query("count(*)") + ")"
        return Scalar(unless(counted.failures, text), call.type, fails=bool(counted.failures))

    def _quantifier(self, typed: Comprehension, scope: Bindings, positive: bool) -> Scalar:
        """`exists`, `all` and `exists_one`."""
        items, inner = self._over(typed, scope, ordered=False)
        body = self.scalar(typed.body, inner, positive and typed.macro == "exists")
        unsure = body.fails or body.nullable
        if typed.macro == "exists" and (positive or not unsure):
            text = exists(items.query("1", body.text))
        elif typed.macro == "all" and (positive or not unsure):
            refuted = "(NOT " + (self.dialect.is_true(body.text) if unsure else body.text) + ")"
            text = "(NOT " + exists(items.query("1", refuted)) + ")"
        else:
            text = self._counted(typed.macro, items, body)
        return Scalar(unless(items.failures, text), typed.type, fails=unsure or bool(items.failures))

    def _counted(self, macro: str, items: Relation, body: Scalar) -> Fragment:
        """A quantifier by counting what is true, what is false, and what is neither."""
        alias, one, zero = self.fresh(), self.dialect.true, self.dialect.false
        source = "(" + items.query(body.text + " AS b") + f") AS {alias}"
        trues = f"count(CASE WHEN {alias}.b THEN 1 END)"
        unknown = f"count(*) > count({alias}.b)"
        match macro:
            case "exists":
                verdict = f"CASE WHEN {trues} > 0 THEN {one} WHEN {unknown} THEN NULL ELSE {zero} END"
            case "all":
                refuted = f"count({alias}.b) > {trues}"
                verdict = f"CASE WHEN {refuted} THEN {zero} WHEN {unknown} THEN NULL ELSE {one} END"
            case _:
                verdict = f"CASE WHEN {unknown} THEN NULL ELSE {trues} = 1 END"
        return f"(SELECT {verdict} FROM " + source + ")"

    def _bindable(self, node: Typed, element: Binding) -> Binding:
        """What a variable is bound to: a row that is known by its primary key is still a row."""
        if isinstance(element, Scalar) and isinstance(node.type, Array) and isinstance(node.type.items, Row):
            return ReferredRow(node.type.items.resource, element)
        return element

    def _over(self, typed: Comprehension, scope: Bindings, ordered: bool = True) -> tuple[Relation, Bindings]:
        """What a macro goes over, and what its variables are bound to."""
        place = typed.place
        is_stored = isinstance(typed.range, Select) and typed.range.through in ("field", "member")
        if place is None:
            items = self._settled(self.relation(typed.range, scope, ordered))
            own: dict[str, Binding] = {}
        elif isinstance(typed.range.type, Object) or is_stored or not self.reads_rows(typed.range, scope):
            items = self._items(typed.range, self.scalar(typed.range, scope))
            type_ = Text() if isinstance(typed.range.type, Object) else Integer()
            own = {place: Scalar(items.order[0].text, type_)}
        else:
            items = self._numbered(self._settled(self.relation(typed.range, scope)))
            own = {place: Scalar(items.order[0].text, Integer())}
        return items, {**scope, **own, typed.variable: self._bindable(typed.range, items.element)}

    def _numbered(self, items: Relation) -> Relation:
        """The same, in the order of a column that says at which position each is."""
        alias, element = self.fresh(), items.element
        item: Binding
        match element:
            case TableRow():
                columns, item = Fragment(f"{element.alias}.*"), replace(element, alias=alias)
            case Scalar():
                columns, item = element.text + " AS v", replace(element, text=Fragment(f"{alias}.v"))
            case ReferredRow(identifier=known):
                columns = known.text + " AS v"
                item = replace(element, identifier=replace(known, text=Fragment(f"{alias}.v")))
            case FirstRow():
                raise AssertionError("one row is no item")
        order = "ORDER BY " + join(", ", [key.ordering for key in items.order]) if items.order else Fragment("")
        place = identifier("$place")
        query = items.query(columns + ", row_number() OVER (" + order + f") - 1 AS {place}")
        source = "(" + query + f") AS {alias}"
        return Relation(source, item, (), (Key(Fragment(f"{alias}.{place}")),), items.failures, derived=True)

    def _transformed(self, typed: Comprehension, scope: Bindings) -> Scalar:
        """An object with other members of the same names."""
        items, inner = self._over(typed, scope)
        if typed.condition is not None:
            items = self._filtered(items, typed.condition, inner)
        name = inner[typed.variables[0]]
        assert isinstance(name, Scalar)
        items = self._settled(replace(items, element=self.scalar(typed.body, inner)))
        member = self._of_binding(typed.body, items.element)
        text = "(" + items.query(self.dialect.gather_members(name.text, member.text, member.type)) + ")"
        return Scalar(unless(items.failures, text), typed.type, fails=bool(items.failures))

    def _gathered(self, typed: Typed, items: Relation) -> Scalar:
        """Several values as one array."""
        items = self._settled(items)
        item = self._of_binding(typed, items.element)
        # By way of a derived table: an aggregate of an outer row's column alone would belong to the outer query.
        alias = self.fresh()
        columns = (item.text + " AS v", *items.order_columns)
        order = tuple(key.ordering for key in items.ordered_as(alias))
        array = self.dialect.gather(Fragment(f"{alias}.v"), item.type, order)
        text = "(SELECT " + array + " FROM (" + items.query(join(", ", columns)) + f") AS {alias})"
        return Scalar(unless(items.failures, text), typed.type, fails=bool(items.failures))

    def _settled(self, items: Relation) -> Relation:
        """The same, with elements that do not fail: that one does makes the whole an error."""
        element = items.element
        if not (isinstance(element, Scalar) and element.fails):
            return items
        failure = exists(items.query("1", element.is_broken))
        sound = replace(element, fails=False, failure=None)
        return replace(items, element=sound, failures=(*items.failures, failure))

    def relation(self, typed: Typed, scope: Bindings, ordered: bool = True) -> Relation:
        """The values of an array-typed expression. `ordered`: their order matters."""
        if not self.reads_rows(typed, scope):
            return self._items(typed, self.scalar(typed, scope))
        match typed:
            case All(resource=resource):
                source, table, seen = self.table(resource)
                return Relation(source, table, seen, self._row_order(typed, table))
            case Select(through="back"):
                return self._referring(typed, scope)
            case Select(through="computed", operand=operand) if isinstance(operand.type, Row):
                name, expression = self._inlined(typed)
                row = self.row(operand, scope)
                with self.inside(typed.name):
                    items = self.relation(expression, {name: row}, ordered)
                return replace(items, failures=(*items.failures, *self._absent(typed, row)))
            case Comprehension(macro="filter"):
                items, inner = self._over(typed, scope, ordered)
                return self._filtered(items, typed.body, inner)
            case Comprehension(macro="map"):
                return self._mapped(typed, scope, ordered)
            case Comprehension(macro="flatMap"):
                return self._flattened(typed, scope, ordered)
            case Call(function="distinct", arguments=[array]):
                return self._distinct(array, self._settled(self.relation(array, scope, ordered)), ordered)
            case Call(function="sort", arguments=[array]):
                items = self._settled(self.relation(array, scope, ordered=False))
                item = self._of_binding(array, items.element)
                return replace(items, order=_ascending(item))
            case Comprehension(macro="sortBy"):
                return self._sorted(typed, scope)
            case Call(function="reverse", arguments=[array]):
                items = self._settled(self.relation(array, scope))
                return replace(items, order=tuple(replace(key, descending=not key.descending) for key in items.order))
            case MakeArray(items=members):
                return self._written(typed, members, scope)
            case Call(function="names of", arguments=[object_]):
                members_of = self._items(object_, self.scalar(object_, scope))
                return replace(members_of, element=Scalar(members_of.order[0].text, Text()))
            case Call(function="+", arguments=[left, right]):
                return self._together(typed, left, right, scope)
            case _:
                return self._items(typed, self.scalar(typed, scope))

    def _items(self, typed: Typed, stored: Scalar) -> Relation:
        """The items of an array that is one value, or the members of an object."""
        assert isinstance(typed.type, Array | Object)
        alias = self.fresh()
        type_ = typed.type.items if isinstance(typed.type, Array) else member_type(typed.type)
        item = Scalar(self.dialect.item(alias, self.stored(type_)), type_, type_.nullable)
        failures = ("(" + stored.text + " IS NULL)",) if stored.fails or stored.nullable else ()
        is_array = isinstance(typed.type, Array)
        place = self.dialect.position(alias) if is_array else self.dialect.name_of(alias)
        return Relation(self.dialect.items(stored.text, alias), item, order=(Key(place),), failures=failures)

    def _row_order(self, node: Typed, row: TableRow) -> tuple[Key, ...]:
        """Rows are in the order of their primary keys."""
        names = self._shape(node, row.resource).primary_key
        return tuple(Key(Fragment(f"{row.alias}.{identifier(name)}")) for name in names)

    def _sorted(self, typed: Comprehension, scope: Bindings) -> Relation:
        """In ascending order of a key; where it leaves items equal, in the order that they had."""
        items, inner = self._over(typed, scope)
        key = self.scalar(typed.body, inner)
        failures = (exists(items.query("1", key.is_broken)),) if key.fails else ()
        return replace(items, order=(*_ascending(key), *items.order), failures=(*items.failures, *failures))

    def _referring(self, select: Select, scope: Bindings) -> Relation:
        """The rows that refer back to a row."""
        target = self.row(select.operand, scope)
        shape = self._shape(select, target.resource)
        resource, referring = shape.inverse[select.name]
        own = self._of_binding(select, target)
        source, row, seen = self.table(resource)
        where = f"{row.alias}.{identifier(referring)} = " + own.text
        return Relation(source, row, (where, *seen), self._row_order(select, row), self._absent(select, target))

    def _filtered(self, items: Relation, condition: Typed, inner: Bindings) -> Relation:
        """Those items of which a condition is true; that it is an error of one makes the whole an error."""
        asked = self.scalar(condition, inner)
        if not (asked.fails or asked.nullable):
            return replace(items, where=(*items.where, asked.text))
        failure = exists(items.query("1", "(" + asked.text + " IS NULL)"))
        return replace(items, where=(*items.where, asked.text), failures=(*items.failures, failure))

    def _mapped(self, typed: Comprehension, scope: Bindings, ordered: bool) -> Relation:
        items, inner = self._over(typed, scope, ordered)
        if typed.condition is not None:
            items = self._filtered(items, typed.condition, inner)
        if isinstance(typed.body.type, Row):
            row = self.row(typed.body, inner)
            return replace(items, element=row if isinstance(row, TableRow) else self._of_binding(typed.body, row))
        return replace(items, element=self.scalar(typed.body, inner))

    def _flattened(self, typed: Comprehension, scope: Bindings, ordered: bool) -> Relation:
        outer, bindings = self._over(typed, scope, ordered)
        inner = self._settled(self.relation(typed.body, bindings, ordered))
        if inner.derived:
            raise self.refuse(typed.body, "the database does not join arrays that are themselves made by a query")
        failures = tuple(exists(outer.query("1", failure)) for failure in inner.failures)
        return Relation(
            join(", ", (outer.source, inner.source)),
            inner.element,
            (*outer.where, *inner.where),
            (*outer.order, *inner.order),
            (*outer.failures, *failures),
            outer.derived,
        )

    def _distinct(self, array: Typed, items: Relation, ordered: bool) -> Relation:
        item, alias = self._of_binding(array, items.element), self.fresh()
        if not ordered:
            source = "(" + items.query("DISTINCT " + item.text + " AS v") + f") AS {alias}"
        else:
            numbered = "row_number() OVER (ORDER BY " + join(", ", [key.ordering for key in items.order]) + ") AS n"
            rows = "(" + items.query(item.text + " AS v, " + numbered) + f") AS {alias}"
            source = f"(SELECT {alias}.v AS v, min({alias}.n) AS n FROM " + rows + f" GROUP BY {alias}.v) AS {alias}"
        value = replace(item, text=Fragment(f"{alias}.v"))
        return Relation(
            source, value, (), (Key(Fragment(f"{alias}.n")),) if ordered else (), items.failures, derived=True
        )

    def _together(self, typed: Call, left: Typed, right: Typed, scope: Bindings) -> Relation:
        """One array after another, as rows: of which it is, and where it was there."""
        assert isinstance(typed.type, Array)
        of_any, alias = isinstance(typed.type.items, Anything), self.fresh()
        queries: list[Fragment] = []
        failures: list[Fragment] = []
        nullable = False
        for number, array in enumerate((left, right)):
            items = self._settled(self.relation(array, scope))
            item = self._of_binding(array, items.element)
            if of_any:
                item = self.json(array, item)
            order = "ORDER BY " + join(", ", [key.ordering for key in items.order]) if items.order else Fragment("")
            place = f", {number} AS s, row_number() OVER (" + order + ") AS n"
            queries.append(items.query(item.text + " AS v" + place))
            failures.extend(items.failures)
            nullable = nullable or item.nullable
        value = Scalar(Fragment(f"{alias}.v"), typed.type.items, nullable)
        source = "(" + join(" UNION ALL ", queries) + f") AS {alias}"
        keys = (Key(Fragment(f"{alias}.s")), Key(Fragment(f"{alias}.n")))
        return Relation(source, value, (), keys, tuple(failures), derived=True)

    def _first(self, typed: Call, array: Typed, scope: Bindings) -> Scalar:
        """The first of several values; null where there is none."""
        items = self._settled(self.relation(array, scope))
        text = "(" + items.first(self._of_binding(array, items.element).text) + ")"
        failure = either(items.failures) if items.failures else None
        return Scalar(unless(items.failures, text), typed.type, True, bool(items.failures), failure)

    def _written(self, typed: MakeArray, members: list[Typed], scope: Bindings) -> Relation:
        """A list literal, as rows."""
        assert isinstance(typed.type, Array)
        made, alias = [self.scalar(member, scope) for member in members], self.fresh()
        if isinstance(typed.type.items, Anything):
            made = list(map(self.json, members, made))
        queries = ("SELECT " + one.text + f" AS v, {index} AS n" for index, one in enumerate(made))
        failures = tuple(one.is_broken for one in made if one.fails)
        item = Scalar(Fragment(f"{alias}.v"), typed.type.items, any(one.nullable for one in made))
        source = "(" + join(" UNION ALL ", queries) + f") AS {alias}"
        return Relation(source, item, (), (Key(Fragment(f"{alias}.n")),), failures, derived=True)


def _ascending(key: Scalar) -> tuple[Key, ...]:
    """Nulls last."""
    nulls = (Key("(" + key.text + " IS NULL)"),) if key.nullable else ()
    return (*nulls, Key(key.text))
