"""Parts of contracts that many tests need said, and none is about."""

from __future__ import annotations

LIMITS_AND_VERSIONS = """## 8. Limits

```yaml
rates: none
body size: 64 KiB
timeout: none
```

## 9. Versioning

Versions: none.
"""


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
