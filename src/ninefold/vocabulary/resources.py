"""The keys of part 2: resources, their fields, and the schemas that they share."""

from __future__ import annotations

from ninefold.language.check import INVARIANTS
from ninefold.language.declaration import below
from ninefold.language.json_schema import keywords
from ninefold.language.key import Key, adds, asked, asked_when, names, restricts, tells
from ninefold.language.shapes import (
    JSON,
    Boolean,
    Expression,
    JSONSchema,
    ListOf,
    MappingOf,
    Members,
    Name,
    Names,
    Template,
    Word,
)

IDENTIFIER = "identifier"
FIELDS = "fields"
TYPE = "type"
READABLE = "readable"
DELETING = "on delete"

_FIELD = "RESOURCE.fields.FIELD"
_NO_TYPE = "A gap: whatever reads or writes the field is not served."

_INVARIANTS = restricts(
    2, "RESOURCE.invariants", ListOf(Members()), "What holds of every row after every write.",
    "No write is refused for it.",
)  # fmt: skip

KEYS: tuple[Key, ...] = (
    names(2, "RESOURCE", Members(), "A kind of thing that the service keeps.",
          "Each use of its name is an error."),
    asked(2, "RESOURCE.identifier", Names("a field", alone=True), IDENTIFIER,
          "The field, or the fields together, by which a row is known. `none`: there is one row, from the start.",
          "A gap: endpoints that address or create R are not served.", says_none=True),
    asked(2, "RESOURCE.fields", MappingOf("fields to schemas"), FIELDS, "What a row holds.",
          "A gap: endpoints that read or write R are not served."),
    names(2, "RESOURCE.includes", Names("a resource", alone=True),
         "Other resources, whose fields it has before its own, with what their `required`, `unique` and `invariants` "
         "say of them, and with their views; in these, the other's name means this resource. One that has no "
         "identifier, and is included, is no resource itself.",
         "It has its own fields alone; each use of what it took over is an error."),
    restricts(2, "RESOURCE.required", Names("a field"), "Fields that a row has a value for.",
              "A row may lack a value."),
    restricts(2, "RESOURCE.unique", ListOf(Names("a field")),
              "Lists of fields; no two rows have the same values in all fields of a list. Nulls are distinct.",
              "Rows may have the same values."),
    _INVARIANTS, *below(_INVARIANTS, INVARIANTS),
    adds(2, "RESOURCE.records", ListOf(Members()), "Rows that the contract itself states.", "There are no such rows."),
    adds(2, "RESOURCE.records.RECORD", MappingOf("fields to values"), "A row, by its fields.", "There is no such row."),
    adds(2, "RESOURCE.records.RECORD.FIELD", JSON(), "The value of the field.", "The field has no value."),
    adds(2, "RESOURCE.expires", Members(), "Rows delete themselves.", "A row is there until it is deleted."),
    adds(2, "RESOURCE.expires.at", Expression(),
         "When a row deletes itself, from the row; one for which there is no time is there until it is deleted.",
         "A row is there until it is deleted."),
    names(2, "RESOURCE.views", MappingOf("views to what they show"),
          "Ways to show a row, each a function of a row or of several.",
          "Each use of a view is an error."),
    names(2, "RESOURCE.views.VIEW", Template(),
          "What the view shows: a list of fields, with mappings for what is not a field, or a template.",
          "Each use of its name is an error."),

    names(2, _FIELD, JSONSchema(), "A field: a JSON Schema with these annotations.",
          "Each use of its name is an error."),
    adds(2, f"{_FIELD}.on create", Expression(), "The value when a row is created and the body does not give one.",
         "The field has no value then; an identifier is the client's to give."),
    adds(2, f"{_FIELD}.on change", Expression(), "The value at every write, creation included.",
         "Writes leave the field alone."),
    adds(2, f"{_FIELD}.again on", Names("a field", alone=True),
         "Fields; when an update gives one of them, `on create` gives the value again.", "The value is given once."),
    adds(2, f"{_FIELD}.computed", Expression(),
          "The value, worked out from the row and from all others, the same for everyone; never stored.",
         "The field is a stored one."),
    adds(2, f"{_FIELD}.normalise", Expression(), "The value that is validated and stored, from `value` as it came.",
         "Values are taken as they come."),
    asked(2, f"{_FIELD}.refers to", Name("a resource"), TYPE, "The field is a reference to a row of that resource.",
          _NO_TYPE),
    names(2, f"{_FIELD}.back", Name("a new name"), "How the target calls the rows that refer to it.",
          "Each use of the name is an error."),
    asked_when(2, f"{_FIELD}.on delete", Word(("refuse", "cascade", "clear")), DELETING, "something deletes the target",
          "What deleting the target does: it is refused, it deletes this row too, or it clears the reference.",
          "A gap: that deletion is not served."),
    restricts(2, f"{_FIELD}.unique", Boolean(), "No two rows have the same value. Nulls are distinct.",
              "Rows may have the same value."),
    restricts(2, f"{_FIELD}.immutable", Boolean(),
              "The value is given once, and no update changes it; that of an identifier may be repeated.",
              "Updates whose body names the field change it."),
    asked_when(2, f"{_FIELD}.secret", Word(("password", "token")), READABLE,
              "credentials or passwords are looked up in the field",
          "`password`: kept as an Argon2id hash and never readable. `token`: random, kept as a SHA-256 digest, found "
          "by it, and readable once, as `issued.NAME`.",
          "A gap: endpoints that name the scheme are not served. Else it is readable like any other."),
    tells(2, f"{_FIELD}.sensitive", Boolean(), "The value is masked in logs."),
    asked(2, f"{_FIELD}.state", Boolean(only_true=True), TYPE,
          "The field shows the row's state, and moves by transitions alone.", _NO_TYPE),
    *keywords(2, _FIELD),

    names(2, "types", MappingOf("names to schemas"), "Schemas that several fields share; a reserved name.",
          "Each use of a shared schema is an error."),
    names(2, "types.TYPE", Members(), "A shared schema of an object, used as `$ref: \"#/types/TYPE\"`.",
          "Each use of its name is an error."),
    asked(2, "types.TYPE.fields", MappingOf("members to schemas"), TYPE, "The members of such an object.",
          "A gap: whatever reads or writes a field of this type is not served."),
    names(2, "types.TYPE.fields.MEMBER", JSONSchema(), "A member of such an object.",
          "Each use of its name is an error."),
    *keywords(2, "types.TYPE.fields.MEMBER"),
    restricts(2, "types.TYPE.required", Names("a member"), "Members that such an object has.",
              "An object may lack them."),

    names(2, "terms", MappingOf("names to expressions"),
          "Expressions with names of their own; a reserved name. A term means its expression wherever another one "
          "reads its name, with what can be read there; it reads only terms that are written before it.",
          "Each use of a term is an error."),
    names(2, "terms.TERM", Expression(), "A named expression.", "Each use of its name is an error."),
)  # fmt: skip
