"""Settings: one frozen object from the environment; the only place that reads it."""

from __future__ import annotations

import difflib
import hashlib
import hmac
import os
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Literal, NoReturn
from urllib.parse import urlsplit

PREFIX = "BOARDREADYOPS_"
TEST_PREFIX = "BOARDREADYOPS_TEST_"  # read by the test suite only; a server started by a test inherits them
MAX_SETTING_CHARACTERS = 65_536
MAX_TIMEOUT_SECONDS = 90 * 86_400
MIN_LEASE_SECONDS = 3
MAX_LEASE_SECONDS = 86_400
MAX_EXECUTION_ATTEMPTS = 20
MAX_GITHUB_TIMEOUT_SECONDS = 60
MAX_DOUBT_SECONDS = 3_600
MIN_SECRET_KEY_CHARACTERS = 32
MIN_OPERATOR_TOKEN_CHARACTERS = 16
SECRET_KEY_BYTES = 32
_DATABASE_URL = r"postgres(ql)?://([^/@#?]*@)?[^/@#?]*([/?][^@#]*)?"  # no @ or # that shifts its parts


class SettingsError(ValueError):
    """A setting is wrong. The text is one line: which variable, what is wrong, what to do."""


class Secret:
    """A text that never prints. `reveal()` is the only way out; comparing takes constant time."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text itself, for the one call that needs it."""
        return self._text

    def __repr__(self) -> str:
        return "Secret(hidden)"

    __str__ = __repr__

    def __format__(self, format_spec: str) -> str:
        return repr(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    def __hash__(self) -> int:
        return hash(hashlib.sha256(self._text.encode()).digest())

    def __copy__(self) -> Secret:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Secret:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Secret is not pickled: hand over where it is kept instead")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a deployment can choose. Durations are in seconds, texts are checked."""

    data_dir: Path
    database_url: Secret | None = None
    migration_database_url: Secret | None = None
    reader_database_url: Secret | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    public_url: str = "http://127.0.0.1:8000"
    github_api_url: str = "https://api.github.com"
    github_web_url: str = "https://github.com"
    github_app_id: int | None = None
    github_private_key: Secret | None = None
    github_webhook_secret: Secret | None = None
    github_webhook_secret_previous: Secret | None = None
    github_client_id: str | None = None
    github_client_secret: Secret | None = None
    github_timeout_seconds: int = 10
    doubt_seconds: int = 60
    secret_key: Secret | None = None
    oidc_issuer: str = "https://token.actions.githubusercontent.com"
    operator_token: Secret | None = None
    enrollment_token: Secret | None = None  # for `runner register` alone
    execution: Literal["runner"] = "runner"
    approval_timeout_seconds: int = 7 * 86_400
    queue_timeout_seconds: int = 6 * 3_600
    start_timeout_seconds: int = 30 * 60
    run_timeout_seconds: int = 90 * 60
    lease_seconds: int = 120
    max_execution_attempts: int = 3
    artifact_store: str

    @classmethod
    def from_environment(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read and check `BOARDREADYOPS_*` (this process's environment unless given); SettingsError."""
        values = _Values(os.environ if environ is None else environ)
        data_dir = values.folder("DATA_DIR") or _default_data_dir(values.environ)
        host = values.text("HOST") or "127.0.0.1"
        port = values.integer("PORT", 8000, 0, 65_535)
        settings = cls(
            data_dir=data_dir,
            database_url=values.database_url("DATABASE_URL"),
            migration_database_url=values.database_url("MIGRATION_DATABASE_URL"),
            reader_database_url=values.database_url("READER_DATABASE_URL"),
            host=host,
            port=port,
            public_url=values.address("PUBLIC_URL", _local_url(host, port)),
            github_api_url=values.address("GITHUB_API_URL", "https://api.github.com"),
            github_web_url=values.address("GITHUB_WEB_URL", "https://github.com"),
            github_app_id=values.integer("GITHUB_APP_ID", 0, 1, 2**63 - 1) or None,
            github_private_key=values.private_key(),
            github_webhook_secret=values.secret("GITHUB_WEBHOOK_SECRET"),
            github_webhook_secret_previous=values.secret("GITHUB_WEBHOOK_SECRET_PREVIOUS"),
            github_client_id=values.text("GITHUB_CLIENT_ID"),
            github_client_secret=values.secret("GITHUB_CLIENT_SECRET"),
            github_timeout_seconds=values.integer(
                "GITHUB_TIMEOUT_SECONDS", 10, 1, MAX_GITHUB_TIMEOUT_SECONDS
            ),
            doubt_seconds=values.integer("DOUBT_SECONDS", 60, 1, MAX_DOUBT_SECONDS),
            secret_key=values.secret("SECRET_KEY", MIN_SECRET_KEY_CHARACTERS),
            oidc_issuer=values.address("OIDC_ISSUER", "https://token.actions.githubusercontent.com"),
            operator_token=values.secret("OPERATOR_TOKEN", MIN_OPERATOR_TOKEN_CHARACTERS),
            enrollment_token=values.secret("ENROLLMENT_TOKEN"),
            execution=values.execution(),
            approval_timeout_seconds=values.timeout("APPROVAL_TIMEOUT_SECONDS", 7 * 86_400),
            queue_timeout_seconds=values.timeout("QUEUE_TIMEOUT_SECONDS", 6 * 3_600),
            start_timeout_seconds=values.timeout("START_TIMEOUT_SECONDS", 30 * 60),
            run_timeout_seconds=values.timeout("RUN_TIMEOUT_SECONDS", 90 * 60),
            lease_seconds=values.integer("LEASE_SECONDS", 120, MIN_LEASE_SECONDS, MAX_LEASE_SECONDS),
            max_execution_attempts=values.integer("MAX_EXECUTION_ATTEMPTS", 3, 1, MAX_EXECUTION_ATTEMPTS),
            artifact_store=values.text("ARTIFACT_STORE") or (data_dir / "artifacts").as_uri(),
        )
        values.refuse_unknown_names()
        return _consistent(settings)

    def bound_to(self, port: int) -> Settings:
        """These settings once the listening port is known; a PUBLIC_URL that was given stays."""
        default_url = _local_url(self.host, self.port)
        public_url = _local_url(self.host, port) if self.public_url == default_url else self.public_url
        return replace(self, port=port, public_url=public_url)


def secret_key(settings: Settings) -> Secret:
    """The key under which tokens and passwords are made: the setting, else one kept in DATA_DIR (made once)."""
    if settings.secret_key is not None:
        return settings.secret_key
    path = settings.data_dir / "secret_key"
    try:
        return kept_secret(path)
    except OSError as error:
        raise SettingsError(
            f"{PREFIX}SECRET_KEY is not set and {path} cannot be kept there ({error.strerror}): set it, or choose"
            f" another {PREFIX}DATA_DIR"
        ) from error


def kept_secret(path: Path) -> Secret:
    """The 256-bit secret in this file, made at first use; when many make it at once, all get the same. OSError."""
    make_data_dir(path.parent)
    try:
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(SECRET_KEY_BYTES) + "\n")
                file.flush()
                os.fsync(file.fileno())
            # A link appears complete or not at all, and only the first one wins.
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        text = path.read_text(encoding="ascii").strip()
    if len(text) < MIN_SECRET_KEY_CHARACTERS:
        raise SettingsError(
            f"{path} is damaged: it must hold at least {MIN_SECRET_KEY_CHARACTERS} characters"
        )
    return Secret(text)


def executable_search_path() -> str:
    """Where programs are looked for: this process's PATH, else the system's own."""
    return os.environ.get("PATH") or os.defpath


def make_data_dir(folder: Path) -> None:
    """Make DATA_DIR, closed to others, if it is missing. OSError."""
    if folder.is_dir():
        return
    try:
        folder.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        if not folder.is_dir():
            raise


def _default_data_dir(environ: Mapping[str, str]) -> Path:
    if os.geteuid() == 0:
        return Path("/var/lib/boardreadyops")
    share = environ.get("XDG_DATA_HOME", "")
    if share.startswith("/"):
        return Path(share) / "boardreadyops"
    return Path(environ.get("HOME") or Path.home()) / ".local" / "share" / "boardreadyops"


def _local_url(host: str, port: int) -> str:
    try:
        shown = f"[{IPv6Address(host)}]"
    except ValueError:
        shown = host
    return f"http://{shown}:{port}"


def _consistent(settings: Settings) -> Settings:
    if settings.database_url is None and (settings.migration_database_url or settings.reader_database_url):
        _refuse("DATABASE_URL", "is missing beside the other database URLs", "set it, or unset them")
    if settings.migration_database_url is not None and settings.reader_database_url is None:
        _refuse(
            "READER_DATABASE_URL", "is missing beside MIGRATION_DATABASE_URL", "set it for the reading login"
        )
    if settings.github_webhook_secret_previous is not None and settings.github_webhook_secret is None:
        _refuse("GITHUB_WEBHOOK_SECRET", "is missing beside its _PREVIOUS", "set the current secret")
    return settings


def _refuse(name: str, problem: str, remedy: str) -> NoReturn:
    raise SettingsError(f"{PREFIX}{name} {problem}: {remedy}")


class _Values:
    """Checked reading of one environment; remembers the names asked for."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self._known: set[str] = set()

    def text(self, name: str) -> str | None:
        self._known.add(name)
        value = self.environ.get(PREFIX + name)
        if value is None:
            return None
        if not value.strip():
            _refuse(name, "is empty", "give it a value or unset it")
        if len(value) > MAX_SETTING_CHARACTERS:
            _refuse(name, "is too long", f"at most {MAX_SETTING_CHARACTERS:,} characters are read")
        if not value.isprintable() and name != "GITHUB_PRIVATE_KEY":
            _refuse(name, "holds control characters", "remove line ends and other unprintable characters")
        return value.strip()

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        value = self.text(name)
        if value is None:
            return default
        if not re.fullmatch(r"-?[0-9]{1,20}", value) or not low <= int(value) <= high:
            _refuse(name, f"is {value[:40]!r}", f"give a whole number from {low:,} to {high:,}")
        return int(value)

    def timeout(self, name: str, default: int) -> int:
        return self.integer(name, default, 1, MAX_TIMEOUT_SECONDS)

    def secret(self, name: str, min_characters: int = 1) -> Secret | None:
        value = self.text(name)
        if value is not None and len(value) < min_characters:
            _refuse(name, "is too short", f"give at least {min_characters} characters")
        return None if value is None else Secret(value)

    def database_url(self, name: str) -> Secret | None:
        value = self.text(name)
        if value is not None and not re.fullmatch(_DATABASE_URL, value):
            form = "postgresql://user:password@host:port/name, / @ # ? of a password as %2F %40 %23 %3F"
            _refuse(name, "is not a postgresql:// URL", f"write {form}")
        return None if value is None else Secret(value)

    def address(self, name: str, default: str) -> str:
        value = self.text(name)
        if value is None:
            return default
        try:
            parts = urlsplit(value)
            complete = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            complete = False
        # Nothing but scheme, host, port and path: paths are appended to these addresses.
        if not complete or any(mark in value for mark in " @?#"):
            _refuse(name, "is not a plain web address", "write https://host or https://host:port/path")
        return value.rstrip("/")

    def folder(self, name: str) -> Path | None:
        value = self.text(name)
        if value is None:
            return None
        if not Path(value).is_absolute():
            _refuse(name, f"is {value[:100]!r}", "give an absolute path")
        return Path(value)

    def private_key(self) -> Secret | None:
        text = self.text("GITHUB_PRIVATE_KEY")
        file = self.text("GITHUB_PRIVATE_KEY_FILE")
        if text is not None and file is not None:
            _refuse("GITHUB_PRIVATE_KEY", "and GITHUB_PRIVATE_KEY_FILE are both set", "keep one of them")
        name = "GITHUB_PRIVATE_KEY"
        if file is not None:
            name = "GITHUB_PRIVATE_KEY_FILE"
            try:
                with Path(file).open(encoding="ascii") as source:
                    text = source.read(MAX_SETTING_CHARACTERS).strip()
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not a PEM text"
                _refuse(name, f"cannot be read ({reason})", "give the path of the App's .pem file")
        if text is None:
            return None
        text = text.replace("\\n", "\n")  # shells and env files often carry a PEM on one line
        if not text.startswith("-----BEGIN ") or "PRIVATE KEY-----" not in text:
            _refuse(name, "is not a PEM private key", "use the .pem that GitHub made for the App")
        return Secret(text)

    def execution(self) -> Literal["runner"]:
        value = self.text("EXECUTION") or "runner"
        if value == "actions":
            _refuse("EXECUTION", "is 'actions'", "this version cannot do that yet; use 'runner' or unset it")
        if value != "runner":
            _refuse("EXECUTION", f"is {value[:40]!r}", "use 'runner' or unset it")
        return "runner"

    def refuse_unknown_names(self) -> None:
        for variable in sorted(self.environ):
            name = variable.removeprefix(PREFIX)
            if name == variable or variable.startswith(TEST_PREFIX) or name in self._known:
                continue
            close = difflib.get_close_matches(name, sorted(self._known), n=1, cutoff=0.0)
            _refuse(name[:100], "is not a setting", f"did you mean {PREFIX}{close[0]}?")
