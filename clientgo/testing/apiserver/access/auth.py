"""Authentication: static bearer tokens, service account tokens, anonymous."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from hashlib import sha256

from clientgo.golang import utf8
from clientgo.testing.apiserver.access.tokens import API_AUDIENCES, InvalidTokenError, ServiceAccountTokens
from clientgo.testing.apiserver.access.users import ANONYMOUS, AUTHENTICATED, User
from clientgo.testing.apiserver.wire import errors
from clientgo.testing.apiserver.wire.http import Request

_INVALID = "invalid bearer token"
_EXTRA_SPACE = (
    "the provided Authorization header contains extra space before the bearer token, and is ignored"
)


def read_token_file(path: str) -> dict[str, User]:
    """Return the users of a token file by their tokens.

    Each line of kube-apiserver's CSV format is `token,user,uid` or `token,user,uid,"group1,group2"`. Raises ValueError
    that names the invalid line, and OSError if the file cannot be read.
    """
    try:
        return _read_tokens(path)
    except (UnicodeDecodeError, csv.Error) as err:
        raise ValueError(f"{path}: {err}") from None


def _read_tokens(path: str) -> dict[str, User]:
    out: dict[str, User] = {}
    with open(path, newline="", encoding="utf-8") as file:
        for number, row in enumerate(csv.reader(file, skipinitialspace=True), 1):
            if not row or row[0].startswith("#"):
                continue
            if len(row) < 3:
                raise ValueError(
                    f"{path}:{number}: token file must have at least 3 columns (token, user name, user uid)"
                )
            if not row[0]:
                raise ValueError(f"{path}:{number}: empty token")
            groups = tuple(g.strip() for g in row[3].split(",") if g.strip()) if len(row) > 3 else ()
            out[row[0]] = User(row[1], row[2], (*groups, AUTHENTICATED))
    return out


def _bearer_token(header: str) -> str | None:
    """Return the token in an Authorization header, "" if more than one space precedes it, None without a token.

    Go: bearertoken.Authenticator.AuthenticateRequest.
    """
    scheme, *rest = header.strip().split(" ", 2)
    return rest[0] if rest and scheme.lower() == "bearer" else None


class Authenticator:
    """A map from requests to users. Tokens are compared by digest and never logged."""

    def __init__(self, tokens: dict[str, User], accounts: ServiceAccountTokens) -> None:
        self._users = {sha256(token.encode()).digest(): user for token, user in tokens.items()}
        self.accounts = accounts

    def __repr__(self) -> str:
        return f"<Authenticator {len(self._users)} tokens>"

    def authenticate(self, request: Request) -> User:
        """Return the user of a request; without a token the anonymous one. Raises ApiError 401 for an invalid token."""
        token = _bearer_token(request.header("authorization"))
        if token is None:
            return ANONYMOUS
        if not token:
            request.warnings.append(_EXTRA_SPACE)
            return ANONYMOUS
        user = self.user_of(token)
        if user is None:
            raise errors.unauthorized()
        return user

    def user_of(self, token: str) -> User | None:
        """Return the user of a token for this API server, or None."""
        return self.review(token, API_AUDIENCES)[0]

    def review(self, token: str, audiences: Sequence[str]) -> tuple[User | None, list[str], str]:
        """Return the user of a token, the `audiences` for which it is valid, and the reason if there is no user.

        The token ends at its first space, as in a header. A token that begins with a space is ignored.
        """
        found = _bearer_token(f"Bearer {token}")
        return self._review(found, audiences) if found else (None, [], "")

    def _review(self, token: str, audiences: Sequence[str]) -> tuple[User | None, list[str], str]:
        known = self._users.get(sha256(utf8.encode(token)).digest())
        if known is not None:
            # A static token is for the API server. Go: WrapAudienceAgnosticToken.
            valid_for = [each for each in API_AUDIENCES if each in audiences]
            return (known, valid_for, "") if valid_for else (None, [], _INVALID)
        try:
            found = self.accounts.authenticate(token, audiences)
        except InvalidTokenError as err:
            return None, [], f"[{_INVALID}, {err}]"
        return (*found, "") if found is not None else (None, [], _INVALID)
