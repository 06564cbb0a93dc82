"""What `ninefold export openapi` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from tests.contracts import ALL, ROOT, compiled, compiled_once, title
from tests.parts import contract, in_two_versions
from tests.slices import some

from ninefold.cli import main
from ninefold.plan.routes import Blocked, Served
from ninefold.tools.openapi.document import openapi
from ninefold.tools.openapi.service import Service

CONTRACTS = some(ALL, 8)


@cache
def described(path: Path) -> tuple[Service, dict[str, Any]] | None:
    loaded = compiled(path)
    if loaded.checked is None or loaded.plan is None:
        return None
    service = Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions)
    return service, openapi(service)


def of(path: Path) -> tuple[Service, dict[str, Any]]:
    found = described(path)
    assert found is not None
    return found


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Operations by their endpoints, as the contract writes them."""
    return {
        operation["x-ninefold"]["endpoint"]: operation
        for methods in document["paths"].values()
        for operation in methods.values()
    }


def case(name: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    _, document = of(ROOT / "tests" / "cases" / name / "contract.md")
    return document, operations(document)


def orders_document() -> dict[str, Any]:
    """Made when it is first asked for: each worker imports this module."""
    return of(ROOT / "examples" / "orders.md")[1]


def orders() -> dict[str, dict[str, Any]]:
    return operations(orders_document())


@pytest.mark.long
@pytest.mark.parametrize("path", CONTRACTS, ids=title)
def test_a_document_keeps_the_laws(path: Path) -> None:
    # Twenty libraries come with it, and a second of what collecting the tests takes.
    from openapi_spec_validator import OpenAPIV31SpecValidator

    for service, document in in_each_version(path):
        OpenAPIV31SpecValidator(document).validate()
        assert json.loads(json.dumps(document)) == document
        what_is_served_is_in_paths_and_what_is_blocked_is_not(service, document)
        every_path_name_has_its_parameter(document)
        every_operation_has_a_name_of_its_own(document)
        every_tag_is_declared(document)
        no_body_is_written_out(document)
        every_example_is_of_its_schema(document)
        what_a_header_alone_refuses_has_that_header(service, document)


def in_each_version(path: Path) -> Iterator[tuple[Service, dict[str, Any]]]:
    """The documents of a contract, the newest version's first."""
    if (found := described(path)) is None:
        return
    yield found
    for older in compiled(path).older:
        if older.checked is not None and older.plan is not None:
            service = Service(older.contract, older.checked, older.plan, older.open_questions)
            yield service, openapi(service)


def what_is_served_is_in_paths_and_what_is_blocked_is_not(service: Service, document: dict[str, Any]) -> None:
    assert operations(document).keys() == {route.key for route in service.plan.routes if isinstance(route, Served)}
    blocked = {each["endpoint"] for each in document["x-ninefold"]["blocked"]}
    assert blocked == {route.key for route in service.plan.routes if isinstance(route, Blocked)}
    assert len(document["x-ninefold"]["gaps"]) == len(service.open_questions)


def every_path_name_has_its_parameter(document: dict[str, Any]) -> None:
    for template, methods in document["paths"].items():
        for operation in methods.values():
            named = [each["name"] for each in operation.get("parameters", ()) if each["in"] == "path"]
            assert re.findall(r"\{(\w+)\}", template) == named


def every_operation_has_a_name_of_its_own(document: dict[str, Any]) -> None:
    places = (*document["paths"].values(), *document.get("webhooks", {}).values())
    names = [operation["operationId"] for methods in places for operation in methods.values()]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[a-z]\w+", each) for each in names), names


def every_tag_is_declared(document: dict[str, Any]) -> None:
    used = {tag for each in operations(document).values() for tag in each.get("tags", ())}
    assert sorted(used) == sorted(each["name"] for each in document["tags"])


def no_body_is_written_out(document: dict[str, Any]) -> None:
    bodies = [each["requestBody"]["content"] for each in operations(document).values() if "requestBody" in each]
    assert all(set(body["schema"]) == {"$ref"} for content in bodies for body in content.values())


def every_example_is_of_its_schema(document: dict[str, Any]) -> None:
    answers = [*document["components"]["responses"].values()]
    answers += [answer for each in operations(document).values() for answer in each["responses"].values()]
    for answer in answers:
        for body in answer.get("content", {}).values():
            for example in body.get("examples", {}).values():
                whole = {**body["schema"], "components": document["components"]}
                jsonschema_rs.Draft202012Validator(whole).validate(example["value"])


def what_a_header_alone_refuses_has_that_header(service: Service, document: dict[str, Any]) -> None:
    """Else a client that is told of 412 could not tell by what it would come to it."""
    may = {
        each.stated.key
        for each in service.endpoints
        if any(refusal.condition == "precondition failed" for refusal in each.refusals)
    }
    for key, operation in operations(document).items():
        named = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "header"}
        assert ({"If-Match", "If-None-Match"} <= named) == (key in may), key


def test_a_row_is_one_component() -> None:
    row = orders_document()["components"]["schemas"]["order"]
    assert list(row["properties"])[:4] == ["id", "customer", "lines", "note"]
    assert row["properties"]["status"]["enum"] == ["draft", "placed", "paid", "shipped", "cancelled"]
    assert row["properties"]["lines"]["items"] == {"$ref": "#/components/schemas/line"}
    assert row["properties"]["note"]["type"] == ["string", "null"]
    # A sum can overflow, and then has no value; a customer is not required.
    assert row["required"] == ["id", "lines", "note", "status", "created_at", "updated_at"]
    shown = orders()["GET /orders/{id}"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert shown == {"$ref": "#/components/schemas/order"}


def test_a_view_is_a_component_and_says_what_may_be_left_out() -> None:
    document, films = case("films-in-several-views")
    assert {"film.card", "person.full"} <= document["components"]["schemas"].keys()
    body = films["POST /films"]["responses"]["201"]["content"]["application/json"]["schema"]
    assert body == {"$ref": "#/components/schemas/film.card"}


def test_a_body_takes_what_the_server_takes() -> None:
    made = orders()["POST /orders"]["requestBody"]
    assert made["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/order.create"}
    schema = orders_document()["components"]["schemas"]["order.create"]
    assert (list(schema["properties"]), schema["required"]) == (["lines", "note"], ["lines"])
    assert schema["additionalProperties"] is False
    patch = orders()["PATCH /orders/{id}"]["requestBody"]["content"]
    assert list(patch) == ["application/json", "application/merge-patch+json"]
    # Written out twice it would be two models of one name to generators, which then leave the operation out.
    assert {each["schema"]["$ref"] for each in patch.values()} == {"#/components/schemas/order.update"}
    assert "required" not in orders_document()["components"]["schemas"]["order.update"]
    assert "requestBody" not in orders()["POST /orders/{id}/place"]


def test_the_parameters_of_a_list() -> None:
    found = {each["name"]: each["schema"] for each in orders()["GET /orders"]["parameters"]}
    assert found["status"] == {"type": "string"}
    assert found["since"] == {"type": "string", "format": "date-time"}
    assert found["sort"]["enum"] == ["created_at", "-created_at"]
    assert (found["limit"]["minimum"], found["limit"]["maximum"], found["limit"]["default"]) == (1, 100, 20)
    assert found["cursor"] == {"type": "string"}


def test_every_refusal_has_its_status_and_its_codes() -> None:
    patch = orders()["PATCH /orders/{id}"]["responses"]
    refused = ["400", "401", "403", "404", "406", "409", "412", "413", "415", "422", "429", "500", "503"]
    assert list(patch) == ["200", *refused]
    assert "403" in orders()["POST /orders/{id}/pay"]["responses"]
    place = orders()["POST /orders/{id}/place"]["responses"]["409"]
    assert "The order is not in a state that allows this" in place["description"]
    assert "An order with nothing to pay cannot be placed" in place["description"]
    stale = orders_document()["components"]["responses"]["stale"]["content"]["application/problem+json"]
    assert stale["examples"]["stale"]["value"]["type"] == "https://orders.example/errors/stale"
    assert "Allow" in orders_document()["components"]["responses"]["method_not_allowed"]["headers"]


def test_an_error_without_a_shape_is_a_bare_status() -> None:
    _, stops = case("no-errors-part-at-all")
    for operation in stops.values():
        for status, answer in operation["responses"].items():
            assert status < "400" or "content" not in answer


def test_an_operation_is_named_by_what_it_does() -> None:
    assert [each["operationId"] for each in orders().values()][:5] == [
        "createCustomer",
        "createOrder",
        "listOrder",
        "readOrder",
        "updateOrder",
    ]
    _, conduit = of(ROOT / "examples" / "conduit.md")
    named = {endpoint: each["operationId"] for endpoint, each in operations(conduit).items()}
    assert named["GET /articles"] == "listArticle"
    assert named["GET /articles/feed"] == "listArticle_articles_feed"
    assert named["GET /tags"] == "getTags"


def test_what_receivers_are_sent() -> None:
    sent = orders_document()["webhooks"]
    assert list(sent) == ["order.placed", "order.paid", "order.shipped", "order.cancelled"]
    placed = sent["order.placed"]["post"]
    assert [each["name"] for each in placed["parameters"]] == [
        "webhook-id",
        "webhook-timestamp",
        "webhook-signature",
    ]
    body = placed["requestBody"]["content"]["application/cloudevents+json"]["schema"]
    assert body == {"$ref": "#/components/schemas/event.order.placed"}
    event = orders_document()["components"]["schemas"]["event.order.placed"]
    assert event["properties"]["type"] == {"const": "order.placed"}
    assert event["properties"]["data"] == {"$ref": "#/components/schemas/order"}
    assert "webhooks" not in of(ROOT / "examples" / "conduit.md")[1]


def test_headers() -> None:
    location = orders()["POST /orders"]["responses"]["201"]["headers"]["Location"]
    assert location == {"required": True, "schema": {"type": "string"}}
    read = orders()["GET /orders/{id}"]
    assert "ETag" in read["responses"]["200"]["headers"] and "ETag" in read["responses"]["304"]["headers"]
    assert "RateLimit" in read["responses"]["200"]["headers"]
    limited = orders_document()["components"]["responses"]["slow_down"]["headers"]
    assert list(limited) == ["RateLimit-Policy", "RateLimit", "Retry-After"]
    named = {each["name"] for each in read["parameters"] if each["in"] == "header"}
    assert named == {"If-Match", "If-None-Match", "Api-Version"}


def test_when_to_try_again_is_told_with_its_conditions_whatever_their_status(tmp_path: Path) -> None:
    text, busy = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8"), tmp_path / "orders.md"
    for code, before, status in (("slow_down", 429, 420), ("busy", 503, 521)):
        written = re.sub(rf"{code}:( +){{status: {before}", rf"{code}:\1{{status: {status}", text)
        assert written != text
        text = written
    busy.write_text(text, encoding="utf-8")
    answers = [
        (status, answer)
        for operation in operations(of(busy)[1]).values()
        for status, answer in operation["responses"].items()
    ]
    told = {status for status, answer in answers if "Retry-After" in _whole(answer, busy).get("headers", {})}
    assert told == {"420", "521"} and {"503", "200"} <= {status for status, _ in answers}


def _whole(answer: dict[str, Any], path: Path) -> dict[str, Any]:
    """An answer in its own words, where it may be one of the components."""
    name = answer.get("$ref", "").rpartition("/")[2]
    found: dict[str, Any] = of(path)[1]["components"]["responses"][name] if name else answer
    return found


def test_who_may_call() -> None:
    assert orders()["POST /customers"]["security"] == []
    assert orders()["GET /orders"]["security"] == [{"key": []}, {"staff": []}]
    schemes = orders_document()["components"]["securitySchemes"]
    assert (schemes["key"]["type"], schemes["key"]["scheme"]) == ("http", "bearer")
    assert schemes["staff"]["x-ninefold"]["issuer"] == "operator.staff_issuer"
    _, conduit = of(ROOT / "examples" / "conduit.md")
    assert operations(conduit)["GET /articles"]["security"] == [{"token": []}, {}]


def test_what_openapi_has_no_words_for_has_its_line() -> None:
    lines = (ROOT / "examples" / "orders.md").read_text(encoding="utf-8").splitlines()
    place = orders()["POST /orders/{id}/place"]["x-ninefold"]
    assert place["transition"]["check"][0]["that"] == "order.total > 0"
    assert "order.total > 0" in lines[place["transition"]["line"] - 1]
    guard = orders()["PATCH /orders/{id}"]["x-ninefold"]["check"][0]
    assert guard["that"] in lines[guard["line"] - 1]
    for rules in orders_document()["x-ninefold"]["rows"].values():
        for rule in rules:
            assert rule["who"] in lines[rule["line"] - 1] and rule.get("when", "") in lines[rule["line"] - 1]


def test_what_narrows_a_fact_is_told_with_it() -> None:
    """A rate of some endpoints, an event of some rows, and what scripts of some origins may do."""
    text = contract(
        "note: {primary key: id, fields: {id: {type: integer, on create: serial()}, stars: {type: integer}}}",
        """
        cors: {origins: [https://notes.example], max age: PT10M, preflight: 204}
        POST /notes: {does: create note, body: [stars], responses: {201: note}}
        GET /notes/{id}: {does: read note, responses: {200: note}}
        """,
        events="""
        kinds:
          note.made: {upon: create note, payload: note}
          note.loved: {upon: create note, where: note.stars > 9, payload: note}
        delivery: none
        """,
    ).replace(
        "rates: none",
        "rates:\n"
        "  calls: {of: address, allow: 9, per: PT1M, algorithm: fixed window}\n"
        "  notes: {of: address, allow: 2, per: PT1M, algorithm: fixed window, endpoints: [POST /notes]}",
    )
    loaded = compiled_once("notes.md", text.encode())
    assert loaded.checked is not None and loaded.plan is not None
    told = openapi(Service(loaded.contract, loaded.checked, loaded.plan, loaded.open_questions))["x-ninefold"]
    assert {each["name"]: each.get("endpoints") for each in told["limits"]["rates"]} == {
        "calls": None,
        "notes": ["POST /notes"],
    }
    assert {each["kind"]: each.get("where") for each in told["events"]} == {
        "note.made": None,
        "note.loved": "note.stars > 9",
    }
    line = text.splitlines().index(next(each for each in text.splitlines() if each.startswith("cors:"))) + 1
    assert told["cors"] == {"origins": ["https://notes.example"], "max age": "PT10M", "preflight": 204, "line": line}


def test_versions() -> None:
    in_path, _ = case("a-version-in-the-path")
    assert all(re.search(r"/v?\w+$|^/$", server["url"]) for server in in_path["servers"])
    _, in_header = case("a-version-in-the-header")
    _, in_query = case("a-version-in-the-query")
    for operations_of, where in ((in_header, "header"), (in_query, "query")):
        for operation in operations_of.values():
            assert any(each["in"] == where and "enum" in each["schema"] for each in operation["parameters"])


def test_a_dotted_name_of_a_path_is_one_that_programs_can_use() -> None:
    document, _ = case("tasks-of-projects-in-nested-paths")
    named = [each for each in document["paths"] if "project" in each]
    assert named and not any("." in path for path in named)


def test_an_older_version_tells_its_errors_as_its_callers_know_them() -> None:
    text = in_two_versions(
        contract(
            """
            note:
              primary key: id
              fields: {id: {type: integer, on create: serial()}, text: {type: string}}
              required: [text]
            """,
            """
            POST /notes:
              does: create note
              body: [text]
              check: {that: "note.text != 'no'", else: nope}
              responses: {201: note}
            """,
            codes="nope: {status: 409}",
        ),
        "{rename: nope, to: never}",
        "{rename: invalid, to: wrong}",
    )
    loaded = compiled_once("notes.md", text.encode())
    (older,) = loaded.older
    assert older.checked is not None and older.plan is not None
    document = openapi(Service(older.contract, older.checked, older.plan, older.open_questions))
    create = document["paths"]["/notes"]["post"]
    assert create["x-ninefold"]["check"][0]["else"] == "never"
    examples = create["responses"]["422"]["content"]["application/json"]["examples"]
    assert {name: each["value"]["code"] for name, each in examples.items()} == {"wrong": "wrong"}
    assert "never" in create["responses"]["409"]["description"]


def test_descriptions_are_the_contracts_own() -> None:
    info = orders_document()["info"]
    assert info["title"] == "Service Specification: Orders"
    assert info["description"].startswith("Takes orders from customers")
    assert orders()["POST /orders"]["summary"] == "create order"


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders = str(ROOT / "examples" / "orders.md")
    assert main(["export", "openapi", orders]) == 0
    as_json = json.loads(capsys.readouterr().out)
    assert main(["export", "openapi", orders, "--format", "yaml"]) == 0
    written = capsys.readouterr().out
    assert yaml.safe_load(written) == as_json and "&id" not in written
    blank = tmp_path / "blank.md"
    assert main(["new", str(blank)]) == 0
    capsys.readouterr()
    assert main(["export", "openapi", str(blank)]) == 1
    assert json.loads(capsys.readouterr().out)["paths"] == {}
    assert main(["export", "asyncapi", orders]) == 2
