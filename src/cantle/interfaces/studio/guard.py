"""The guard in front of every page: it checks who sends a request, from where and how large, and sets safe headers.

Other sites in the same browser must not reach the studio. A site that points its own name at 127.0.0.1 (DNS rebinding)
is refused by `Host`; a page that sends forms here is refused by `Origin` and `Sec-Fetch-Site`; without the cookie,
which only the one-time token gives, no page is shown at all. Refusals are fixed texts that quote nothing. Token and
cookie admit a browser and touch no data, so they are drawn by Python's module `secrets`.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Keys:
    """A token that opens the studio once, and the cookie of the browser that used it."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = secrets.token_urlsafe(32)
        # Browsers share cookies between ports: two studios on one machine need two names.
        self.cookie_name = f"cantle-studio-{port}"
        self._used = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "Keys(secret)"

    def redeem(self, token: str) -> bool:
        """Whether this is the token, used for the first time."""
        right = hmac.compare_digest(token.encode(), self.token.encode())
        with self._lock:
            first = not self._used
            self._used = self._used or right
        return right and first

    def knows(self, cookie: str | None) -> bool:
        """Whether a request carries the cookie."""
        return cookie is not None and hmac.compare_digest(cookie.encode(), self.cookie.encode())


def fresh_word() -> str:
    """A random word that nobody can guess, for a form that may be sent only once."""
    return secrets.token_urlsafe(16)


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    # Not no-referrer: with that, browsers send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
REFUSALS = {
    400: ("Not understood", "The studio could not read this request."),
    403: (
        "No entry",
        "This page opens only with the address that cantle studio printed, once, and only from itself. "
        "If the address was used already, end the studio in its terminal and start it again.",
    ),
    404: ("Not here", "The studio has no such page."),
    405: ("Not this way", "The studio does not take this request here."),
    413: ("Too large", "The studio does not take as much as this at once. Choose the file by its path instead."),
    500: ("Something went wrong", "An unexpected error ended this request. Nothing was released by this page."),
}
_SAFE = ("GET", "HEAD")
_HEAD = '<meta charset="utf-8"><link rel="icon" href="data:,">'


def refusal(status: int) -> HTMLResponse:
    """A page with the fixed text of a refusal."""
    title, words = REFUSALS[status]
    link = "" if status == 403 else '<p><a href="/">Back to the studio</a></p>'
    styles = "" if status == 403 else '<link rel="stylesheet" href="/static/studio.css">'
    head = f'{_HEAD}<meta name="viewport" content="width=device-width"><title>{title}</title>{styles}'
    page = f'<!doctype html><html lang="en"><head>{head}</head><body><main><h1>{title}</h1><p>{words}</p>{link}</main>'
    return HTMLResponse(f"{page}</body></html>", status_code=status)


class Guard:
    """Lets a request through to the pages, or refuses it."""

    def __init__(self, app: ASGIApp, keys: Keys, port: int) -> None:
        self._app, self._keys = app, keys
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            answer = self._answer(scope)
            await (self._app if answer is None else answer)(scope, receive, sending)
        except Exception:  # noqa: BLE001 - its text may quote a record: neither the page nor a log may show it
            if not started:
                await refusal(500)(scope, receive, sending)

    def _answer(self, scope: Scope) -> Response | None:
        """The guard's own answer to a request; None lets the request through."""
        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return refusal(403)
        admitted = self._keys.knows(_cookie(headers, self._keys.cookie_name))
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if token and scope["method"] == "GET" and scope["path"] == "/":
            return self._welcome(token[0], admitted)
        if not admitted or not self._comes_from_here(headers, scope["method"]):
            return refusal(403)
        return None

    def _comes_from_here(self, headers: Headers, method: str) -> bool:
        """Whether our own page, or the person at the browser, sent the request."""
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if origin is not None and origin not in self._origins:
            return False
        if site not in (None, "same-origin", "none"):
            return False
        return method in _SAFE or origin is not None

    def _welcome(self, token: str, admitted: bool) -> Response:
        """Exchanges the token for the cookie. The answer is a page, not a redirect: after a link from elsewhere, a
        browser would follow a redirect without the cookie (SameSite=Strict)."""
        if not self._keys.redeem(token) and not admitted:
            return refusal(403)
        refresh = f'{_HEAD}<meta http-equiv="refresh" content="0;url=/"><title>cantle studio</title>'
        page = f'<!doctype html><html lang="en"><head>{refresh}</head>'
        answer = HTMLResponse(f'{page}<body><main><p><a href="/">Open the studio</a></p></main></body></html>')
        answer.set_cookie(self._keys.cookie_name, self._keys.cookie, path="/", httponly=True, samesite="strict")
        return answer


def _cookie(headers: Headers, name: str) -> str | None:
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(headers.get("cookie", ""))
    except CookieError:
        return None
    return cookies[name].value if name in cookies else None
