"""What is delivered, as the official library for JavaScript verifies it: where Node.js finds it (NODE_PATH)."""

from __future__ import annotations

import json
import shutil
import subprocess
import time

import pytest
from standardwebhooks import Webhook

from ninefold.runtime.operations import signing

VERIFY = """
const { Webhook } = require("standardwebhooks");
const [secret, body, headers] = JSON.parse(require("fs").readFileSync(0, "utf-8"));
console.log(JSON.stringify(new Webhook(secret).verify(body, headers)));
"""


def test_the_official_library_for_javascript_verifies_a_delivery() -> None:
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", 'require("standardwebhooks")'], capture_output=True).returncode:
        pytest.skip("there is no Node.js, or it does not find the package standardwebhooks")
    secret = signing.secret(signing.signing_key(bytes(32)), "6f9619ff-8b86-4011-b42d-00c04fc964ff")
    old = signing.secret(signing.signing_key(bytes(32)), "6f9619ff-8b86-4011-b42d-00c04fc964ff", 1)
    body = '{"title":"Grüße, \U0001f375"}'
    headers = signing.headers([old, secret], "event-1", int(time.time()), body.encode())
    assert Webhook(signing.written(secret)).verify(body, headers) == json.loads(body)
    given = json.dumps([signing.written(secret), body, headers])
    verified = subprocess.run([node, "-e", VERIFY], input=given, capture_output=True, text=True, timeout=30)
    assert verified.returncode == 0, verified.stderr
    assert json.loads(verified.stdout) == json.loads(body)
