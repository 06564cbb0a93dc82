"""What the sources on the path tell of the documents in a folder, as JSON: one half of `told_alike.py`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ninefold.diagnostics.render import render
from ninefold.pipeline import compile_document
from ninefold.tools import documents, editor_schema, gaps, letter
from ninefold.tools.explain import render as explained
from ninefold.tools.explain.endpoint import explain_endpoint
from ninefold.tools.explain.service import explain_service
from ninefold.tools.propose.propose import propose


def tell(corpus: Path) -> dict[str, Any]:
    """Everything that the sources at hand tell of the documents in a folder, and of the language."""

    told: dict[str, Any] = {"docs": {name: make() for name, make in documents.GENERATED.items()}}
    told["editor"] = {str(part): editor_schema.block_of(part) for part in range(1, 10)}
    for path in sorted(corpus.iterdir()):
        try:
            loaded = compile_document(path.name, path.read_bytes())
            own: dict[str, Any] = {
                "diagnostics": render(loaded.diagnostics, loaded.source),
                "gaps": gaps.to_json(loaded.contract, loaded.open_questions),
                "letter": letter.letter(loaded.contract, loaded.open_questions),
                "service": explained.to_text(explain_service(loaded)),
                "proposed": propose(loaded).text,
                "plan": repr(loaded.plan),
                "older": [repr(each.plan) for each in loaded.older],
            }
            stated = getattr(loaded.contract.endpoints.endpoints, "value", ())
            own["endpoints"] = [explained.to_text(explain_endpoint(loaded, each)) for each in stated[:4]]
        except Exception as error:  # whatever it is, it is told alike too
            own = {"raised": f"{type(error).__name__}: {error}"}
        told[path.name] = own
    return told


if __name__ == "__main__":
    json.dump(tell(Path(sys.argv[1])), sys.stdout)
