"""A model as a web service: answers in JSON, requests that wait together, a page to try it."""

from palmette.serving._app import make_app
from palmette.serving._process import serve
from palmette.serving._requests import Limits

__all__ = ["Limits", "make_app", "serve"]
