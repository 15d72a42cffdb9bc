import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from boardreadyops.config import Secret
from boardreadyops.github.auth import PrivateKeyRefused, app_jwt


def test_the_jwt_begins_a_minute_ago_and_lives_nine(private_key: Secret, public_key: str) -> None:
    token = app_jwt(4242, private_key, 1_800_000_000)
    claims = jwt.decode(
        token.reveal(), public_key, algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
    )
    assert claims == {"iss": "4242", "iat": 1_799_999_940, "exp": 1_800_000_480}
    assert token.reveal() not in repr(token)


def other_key() -> str:
    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()


@pytest.mark.parametrize(
    "pem", ["", "-----BEGIN RSA PRIVATE KEY-----\nsecretsecret\n-----END RSA PRIVATE KEY-----", other_key()]
)
def test_a_key_that_cannot_sign_is_refused_in_one_line_without_showing_it(pem: str) -> None:
    with pytest.raises(PrivateKeyRefused) as caught:
        app_jwt(1, Secret(pem), 0)
    assert "\n" not in str(caught.value)
    assert "secretsecret" not in str(caught.value)
