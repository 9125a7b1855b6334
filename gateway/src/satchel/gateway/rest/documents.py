"""Serves the OpenAPI document and a viewer of it, without reaching for anything outside."""

import json
from html import escape
from pathlib import Path
from typing import Final, cast

import swagger_ui_bundle
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from satchel.gateway.http.routes import get_route
from satchel.gateway.transcoder.json_text import Json, dumps
from satchel.gateway.transcoder.openapi import OpenApi

_ASSETS: Final = Path(str(swagger_ui_bundle.swagger_ui_path))

# The viewer that is packaged for Python knows OpenAPI 3.0 only. What our document uses beyond 3.0 are lists
# of types, which `_for_viewer` reduces to the first.
_VIEWER_VERSION: Final = "3.0.3"

_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
<link rel="icon" href="docs/assets/favicon-32x32.png">
</head>
<body>
<div id="viewer"></div>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/viewer.js"></script>
</body>
</html>
"""
_SCRIPT: Final = 'SwaggerUIBundle({url: "docs/openapi.json", dom_id: "#viewer", deepLinking: true});\n'
_POLICY: Final = "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'"


def document_routes(document: OpenApi) -> list[BaseRoute]:
    """Return the routes of the document and its viewer."""
    text = dumps(cast("Json", document)).encode()
    viewer_text = json.dumps(_for_viewer({**document, "openapi": _VIEWER_VERSION})).encode()
    page = _PAGE.format(title=escape(str(cast("dict[str, Json]", document["info"])["title"])))

    async def show_document(_: Request) -> Response:
        return Response(text, media_type="application/json")

    async def show_viewer_document(_: Request) -> Response:
        return Response(viewer_text, media_type="application/json")

    async def show_page(_: Request) -> Response:
        return HTMLResponse(page, headers={"Content-Security-Policy": _POLICY})

    async def show_script(_: Request) -> Response:
        return Response(_SCRIPT, media_type="text/javascript")

    return [
        get_route("/openapi.json", show_document),
        get_route("/docs", show_page),
        get_route("/docs/openapi.json", show_viewer_document),
        get_route("/docs/viewer.js", show_script),
        Mount("/docs/assets", StaticFiles(directory=_ASSETS)),
    ]


def _for_viewer(value: Json) -> Json:
    if isinstance(value, list):
        return [_for_viewer(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {name: _for_viewer(member) for name, member in value.items()}
    kinds = made.get("type")
    if isinstance(kinds, list):
        made["type"] = kinds[0]
        made["nullable"] = "null" in kinds
    options = made.get("anyOf")
    if isinstance(options, list):
        made["anyOf"] = [option for option in options if option != {"type": "null"}]
    if isinstance(made.get("enum"), list):
        made["enum"] = [word for word in cast("list[Json]", made["enum"]) if word is not None]
    return made
