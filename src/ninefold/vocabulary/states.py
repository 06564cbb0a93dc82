"""The keys of part 3: states and transitions."""

from __future__ import annotations

from dataclasses import replace

from ninefold.language.declaration import rows
from ninefold.language.endpoints import Endpoint
from ninefold.language.key import Key, adds, asked, names, restricts, tells
from ninefold.language.shapes import (
    Duration,
    Expression,
    MappingOf,
    Members,
    Name,
    Names,
    OneOf,
)

MACHINE = "machine"
INITIAL = "initial"
FROM, TO = "from", "to"

_TRANSITION = "RESOURCE.transitions.TRANSITION"

KEYS: tuple[Key, ...] = (
    asked(3, "RESOURCE", Members(), MACHINE, "The states of a resource; `none` where it has none.",
          "A gap: writes of R are not served.", says_none=True),
    asked(3, "RESOURCE.field", Name("a field"), MACHINE, "The field, marked `state: true`, that shows the state.",
          "A gap: writes of R are not served."),
    asked(3, "RESOURCE.initial", Name("a state"), INITIAL, "The state of a row just created.",
          "A gap: creating R is not served."),
    asked(3, "RESOURCE.states", Names("a new name"), MACHINE, "All states.", "A gap: writes of R are not served."),
    tells(3, "RESOURCE.final", Names("a state", alone=True), "States that nothing leaves."),
    adds(3, "RESOURCE.gone", Names("a state", alone=True), "States in which a row answers `gone` (a soft delete).",
         "A row is served in every state."),
    names(3, "RESOURCE.transitions", MappingOf("transitions to their ends"), "The moves between states.",
          "Each use of a transition is an error."),
    names(3, _TRANSITION, Members(), "A move, which an endpoint takes (`does: place order`), or a timer.",
          "Each use of its name is an error."),
    asked(3, f"{_TRANSITION}.from", Names("a state", alone=True), FROM, "The state or states that it leaves.",
          "A gap: the transition is not served."),
    asked(3, f"{_TRANSITION}.to", Name("a state"), TO, "The state that it reaches.",
          "A gap: the transition is not served."),
    restricts(3, f"{_TRANSITION}.when", Expression(), "Its guard: it is refused unless this holds.",
              "It is taken from each of its states."),
    adds(3, f"{_TRANSITION}.otherwise", Name("an error code"), "The error when its guard does not hold.",
         "The error is the code of the condition `guard`."),
    adds(3, f"{_TRANSITION}.sets", MappingOf("fields to expressions"), "Values that it gives.",
         "It changes the state alone."),
    adds(3, f"{_TRANSITION}.sets.FIELD", Expression(), "The value that it gives the field.",
         "The field keeps its value."),
    adds(3, f"{_TRANSITION}.after", OneOf((Duration(), Expression())),
         "The service takes it by itself when the row has been in `from` for so long; or at the time that an "
         "expression over the row gives, or once the duration that it gives has passed.", "It waits to be asked."),
    *(
        replace(key, path=f"{_TRANSITION}.{key.path}")
        for key in rows(Endpoint, 3)
        if key.path.partition(".")[0] == "then"
    ),
)  # fmt: skip
