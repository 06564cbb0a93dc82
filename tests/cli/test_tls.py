"""`ninefold serve --certificate --key --client-ca`: HTTPS on the service's port, by certificates made here."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from tests.cli.test_serving import Refused, refused, serving
from tests.contracts import plan_of
from tests.server.authority import Authority
from tests.server.test_certificates import PRESSES

from ninefold.cli.announcement import remarks

__all__ = ("refused",)

pytestmark = pytest.mark.serves


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    folder = tmp_path / "authority"
    folder.mkdir()
    return Authority(folder)


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.file))


def test_the_service_speaks_https_and_the_operators_port_does_not(
    tmp_path: Path, authority: Authority, capfd: pytest.CaptureFixture[str]
) -> None:
    own = authority.server()
    with serving(tmp_path, "--certificate", str(own.certificate), "--key", str(own.key)) as service:
        url = service.address("service")
        assert url.startswith("https://127.0.0.1:")
        assert any(line.lstrip().startswith("curl -i https://") for line in service.announced)
        url = url.replace("127.0.0.1", "localhost")
        assert httpx.get(url + "/orders", verify=trusting(authority)).status_code == 401
        assert httpx.get(service.address("operator") + "/health/live").status_code == 200
        with pytest.raises(httpx.HTTPError):
            httpx.get(url.replace("https", "http") + "/orders")
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(url + "/orders")
    assert "Traceback" not in capfd.readouterr().err


def test_files_that_do_not_go_together(tmp_path: Path, authority: Authority, refused: Refused) -> None:
    own, other = authority.server(), authority.server()
    certificate, key = map(str, own.pair)
    nothing = tmp_path / "nothing.pem"
    nothing.write_text("nothing\n")
    assert f"error: {certificate} is given without --key" in refused("--certificate", certificate)
    assert f"error: {key} is given without --certificate" in refused("--key", key)
    assert "is given without --certificate" in refused("--client-ca", str(authority.file))
    assert "is not the key of" in refused("--certificate", certificate, "--key", str(other.key))
    assert "are no certificate with its key" in refused("--certificate", str(nothing), "--key", key)
    assert "cannot be read: no such file" in refused("--certificate", str(tmp_path / "none.pem"), "--key", key)
    assert "cannot be read: is a directory" in refused("--certificate", str(tmp_path), "--key", key)
    both = ("--certificate", certificate, "--key", key)
    assert "holds no certificate" in refused(*both, "--client-ca", str(nothing))


def test_whose_certificates_are_taken_is_the_operators_to_say() -> None:
    plan = plan_of(PRESSES)
    missing = "\n".join(remarks(plan, {}, "presses.md"))
    assert "the authorities of press: no certificate is taken" in missing and "--client-ca FILE" in missing
    assert "authorities" not in "\n".join(remarks(plan, {}, "presses.md", takes_certificates=True))


def test_a_key_with_a_password(tmp_path: Path, authority: Authority, refused: Refused) -> None:
    own = authority.server()
    key = load_pem_private_key(own.key.read_bytes(), None)
    locked = tmp_path / "locked.key"
    locked.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")))
    assert "is encrypted" in refused("--certificate", str(own.certificate), "--key", str(locked))
