"""Schemes of the type mutualTLS: whose a client's certificate is."""

from __future__ import annotations

from collections.abc import Mapping

from ninefold.checked.resources import Resource
from ninefold.checked.service import AnyCertificate, CertificateOf
from ninefold.checks.codes import CERTIFICATE_FIELD
from ninefold.checks.findings import Findings, typed
from ninefold.contract.fact import value_of
from ninefold.diagnostics.diagnostic import Label
from ninefold.expressions.scope import Scope
from ninefold.language.authentication import ANY, Scheme
from ninefold.values import Array, Object, Text

CLAIMS = Object(
    members={
        **dict.fromkeys(("subject", "common_name", "issuer", "serial", "fingerprint"), Text()),
        **dict.fromkeys(("san_dns", "san_email", "san_uri", "san_ip"), Array(items=Text())),
    }
)
"""What can be read of a certificate: see `ninefold.server.certificates`."""


def certificate(
    scheme: Scheme, resources: Mapping[str, Resource], findings: Findings
) -> CertificateOf | AnyCertificate | None:
    """How the certificates of a scheme are known; None where something of that is not shown, or wrong."""
    matches = value_of(scheme.matches)
    if matches is None:
        return None
    if matches.text == ANY:
        return AnyCertificate()
    name, _, field_name = matches.text.partition(".")
    field = resources[name].fields.get(field_name) if name in resources else None
    stated = value_of(scheme.credential)
    presented = None if stated is None else typed(stated, Scope({"claims": CLAIMS}), Text(), findings)
    if field is None or presented is None:
        return None
    if field.secret is not None:
        wrong = "is a secret, and a certificate is none"
    elif not isinstance(field.type, Text):
        wrong = "is not a text"
    elif not field.stored:
        wrong = "is not stored"
    elif not field.unique and resources[name].identifier != (field_name,):
        wrong = "is not unique: a certificate could be of several rows"
    else:
        return CertificateOf(name, field_name, presented)
    findings.say(CERTIFICATE_FIELD, f"no certificate can be looked up in `{matches.text}`", Label(matches.span, wrong))
    return None
