"""Parts of contracts that many tests need said, and none is about."""

from __future__ import annotations

from textwrap import dedent

import httpx

READ_AS_JSON = """requests:  {media type: application/json, unknown members: refused, unknown parameters: refused}
produces: application/json
"""

FOR_ANYONE = """schemes: none
permissions: {all others: anyone}
rows: all
"""

CALLERS_AND_EVENTS = f"""## 5. Authentication

```yaml
{FOR_ANYONE}```

## 6. Events

Events: none.

"""

LIMITS_AND_VERSIONS = """## 8. Limits

```yaml
rates: none
body size: 64 KiB
timeout: none
```

## 9. Versioning

Versions: none.
"""

CODES = """invalid:             {status: 422, for: invalid}
malformed:           {status: 400, for: malformed}
unauthenticated:     {status: 401, for: unauthenticated}
sign_in_refused:     {status: 401, for: sign in refused}
forbidden:           {status: 403, for: forbidden}
not_found:           {status: 404, for: [not found, no such path]}
method_not_allowed:  {status: 405, for: method not allowed}
gone:                {status: 410, for: gone}
precondition_failed: {status: 412, for: precondition failed}
illegal_transition:  {status: 409, for: illegal transition}
different:           {status: 409, for: different}
conflict:            {status: 409, for: conflict}
too_large:           {status: 413, for: too large}
mismatch:            {status: 422, for: idempotency mismatch}
"""


def contract(
    resources: str,
    endpoints: str,
    *,
    states: str = "",
    callers: str = FOR_ANYONE,
    events: str = "",
    errors: str = "",
    codes: str = "",
    limits: str = "",
) -> str:
    """A whole contract of these facts (YAML; they may be indented). Nobody is asked who they are, JSON is read and
    shown. Each condition has a code of its name; `codes` adds to these, `errors` to what else part 7 says, `limits`
    to part 8."""
    stated = {
        "2. Resources": resources,
        "3. States": states,
        "4. Endpoints": READ_AS_JSON + dedent(endpoints),
        "5. Authentication": callers,
        "6. Events": events,
        "7. Errors": "error shape: {media type: application/json, body: {code: error.code, fields: error.fields}}\n"
        + f"codes:\n{_indented(CODES)}{_indented(codes)}{dedent(errors)}",
        "8. Limits": f"rates: none\nbody size: 64 KiB\ntimeout: none\n{dedent(limits)}",
        "9. Versioning": "",
    }
    parts = (
        f"## {heading}\n\n" + (f"```yaml\n{dedent(facts).strip()}\n```\n" if facts else f"{heading[3:]}: none.\n")
        for heading, facts in stated.items()
    )
    return "# A service\n\n## 1. What the service does\n\nKeeps things.\n\n" + "\n".join(parts)


def _indented(facts: str) -> str:
    return "".join(f"  {line}\n" for line in dedent(facts).splitlines())


def told(answer: httpx.Response) -> object:
    """Its status if it is good, else the code of the error, or the status where it has none."""
    if answer.status_code < 400 or not answer.content:
        return answer.status_code
    return answer.json()["code"]


def in_two_versions(contract: str, *changes: str, default: str = '"2"') -> str:
    """The contract as version `2`, and as an older version `1`, which differs in these changes (YAML, one each). The
    header `Api-Version` chooses between them."""
    before, _, _ = contract.partition("## 9. Versioning")
    listed = "".join(f"      - {change}\n" for change in changes)
    return f"""{before}## 9. Versioning

```yaml
in: header
name: Api-Version
default: {default}
versions:
  "2": {{}}
  "1":
    changes:
{listed}compatible: none
```
"""
