"""A name that nothing declares, wherever one stands: it is told, and what is said of the rest needs no exception."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts import EXAMPLES
from tests.mutations.judged import judge
from tests.mutations.trees import Members, Text, copied, places, plain_form, tree_of
from tests.slices import LONG, some

WORDS = ("nowhere", "event")
"""What nothing declares: a name of nobody's, and one of what is built in."""

CLUB = b"""
purpose: Keeps who is in a club, and what happens there.
resources:
  club:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      name: {type: string, unique: true}
    required: [name]
  player:
    primary key: id
    fields:
      id: {type: integer, on create: serial()}
      club: {references: club, on delete: restrict}
      number: {type: integer, oneOf: [{minimum: 0}, {const: -1}]}
      rank: {type: integer, computed: "player.number + 1"}
      first: {type: integer, on create: "player.rank * 2"}
      word: {type: string, secret: password}
      state: {type: string, state: true}
    required: [club, number, word]
    unique: [[club, number]]
    views: {card: {number: player.number}}
states:
  player: {initial: on, states: [on, off], gone: none, transitions: {rest: {from: on, to: off}}}
endpoints:
  requests: {media type: application/json, unknown members: refused, unknown parameters: refused}
  produces: application/json
  POST /players: {does: create player, body: [club, number, word], responses: {201: card(player)}}
  POST /in: {does: sign in player, body: [club, number, word], responses: {200: player}}
  GET /clubs/{club}: {does: get club, responses: {200: club}}
  POST /players/{id}/rest:
    does: rest player
    also: [{does: delete player, where: "player.club == this.club && player.number == 0"}]
    responses: {200: player}
authentication:
  schemes: none
  rows: {club: {anyone: true}, player: {anyone: true}}
  unseen rows: not found
  permissions: {all others: anyone}
events:
  kinds: {came: {upon: create player, payload: card(player)}}
  delivery: {stream: server-sent events, envelope: none}
  kept: PT1H
errors: none
limits: none
versioning: none
"""

UNREADABLE = ("none", "nowhere.a + 1")
"""What is no answer at most places, and an expression that is of no type at any."""

OTHERS = EXAMPLES if LONG else []


def given(tree: Members) -> list[int]:
    """Which places of a contract hold a name that it gives."""
    found = list(places(tree))
    names = {each.names[-1] for each in found}
    return [number for number, each in enumerate(found) if isinstance(each.value, Text) and each.value.text in names]


def changed(tree: Members, number: int, word: str) -> Members:
    made = copied(tree)
    assert isinstance(made, Members)
    list(places(made))[number].put(Text(word, plain=True))
    return made


@pytest.mark.long
@pytest.mark.parametrize("path", [None, *OTHERS], ids=["club", *(path.stem for path in OTHERS)])
@pytest.mark.parametrize("word", some(WORDS, 2))
def test_an_unknown_name_breaks_nothing(word: str, path: Path | None) -> None:
    tree = tree_of("club.yaml", CLUB) if path is None else tree_of(path.name, path.read_bytes())
    for number in given(tree):
        judge("changed.yaml", plain_form(changed(tree, number, word)), endpoints=1)


@pytest.mark.long
@pytest.mark.parametrize("written", some(UNREADABLE, 2))
def test_what_cannot_be_read_breaks_nothing(written: str) -> None:
    """Wherever it stands, also in a list: what is said of the rest does without it."""
    tree = tree_of("club.yaml", CLUB)
    for number in range(len(list(places(tree)))):
        judge("changed.yaml", plain_form(changed(tree, number, written)), endpoints=1)


def test_what_an_older_version_alone_has_may_be_a_gap() -> None:
    """What is open of an endpoint that no longer is: nothing is proposed for what part 4 does not have."""
    older = """versioning:
  in: header
  name: V
  default: "2"
  versions:
    "2": {}
    "1": {changes: [{add: GET /players, was: {does: list player}}]}
  compatible: [add an endpoint]
"""
    judge("older.yaml", CLUB.decode().replace("versioning: none\n", older))


@pytest.mark.parametrize(
    "name", ["self", "cls", "rows", "more", "args", "kwargs", "class", "lambda", "name", "resource"]
)
def test_a_resource_is_called_by_any_word_that_means_something_to_python(name: str) -> None:
    text = CLUB.decode().replace("players", "those").replace("player", name)
    assert judge("contract.yaml", text), text
