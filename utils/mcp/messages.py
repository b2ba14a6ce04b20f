"""Describe invalid JSON-RPC messages from a host, alike for every transport.

The SDK passes over such a line on stdio, and over HTTP answers it with pages about its own types.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage

PARSE_ERROR, INVALID_REQUEST = -32700, -32600
_LINE_MAX_CHARS = 10_000_000  # of a line that is read again, for its id


class MessageFault(NamedTuple):
    """An invalid message: its request id if any, the JSON-RPC code and the reason."""

    id: str | int | None
    code: int
    message: str


def find_fault(sent: str | bytes) -> MessageFault | None:
    """Return what makes *sent* an invalid message, or None if it is valid."""
    from mcp_types import jsonrpc_message_adapter

    try:
        message = jsonrpc_message_adapter.validate_json(sent, by_name=False)
    except ValidationError as error:
        return find_sdk_fault(error)
    return find_id_error(message)


def find_id_error(message: JSONRPCMessage) -> MessageFault | None:
    """Return the error for a request whose ID is missing, null, fractional or of a wrong type.

    The SDK takes such a request for a notification, and never answers it. The protocol's own
    notifications are called ``notifications/…``.
    """
    from mcp_types import JSONRPCNotification

    if not isinstance(message, JSONRPCNotification) or message.method.startswith("notifications/"):
        return None
    return MessageFault(
        None, INVALID_REQUEST, "The id of a request must be a string or an integer."
    )


def find_sdk_fault(error: Exception) -> MessageFault | None:
    """Return the fault behind the SDK's error, or None for a blank line."""
    if not isinstance(error, ValidationError):
        return describe_invalid_value(None)
    errors: list[Any] = error.errors()
    if errors[0]["type"] != "json_invalid":
        # Of the message's own members each is complained of alone; of those that lack, the whole.
        lacking = (one["input"] for one in errors if one["type"] == "missing")
        return describe_invalid_value(next(lacking, errors[0]["input"]))
    line = _decode_utf8(errors[0]["input"])
    if line is None:
        return MessageFault(None, PARSE_ERROR, "This is not JSON: it is not UTF-8.")
    return describe_invalid_line(line) if line.strip() else None


def _decode_utf8(sent: str | bytes) -> str | None:
    """Return sent bytes as text, or None if they are not UTF-8."""
    try:
        return sent.decode() if isinstance(sent, bytes) else sent
    except UnicodeDecodeError:
        return None


def describe_invalid_value(value: Any) -> MessageFault:
    """Return the fault of JSON that is not a JSON-RPC message.

    >>> describe_invalid_value({"id": 7})
    MessageFault(id=7, code=-32600, message='This is not a JSON-RPC message: see https://www.jsonrpc.org/specification.')
    """
    if isinstance(value, list):
        return MessageFault(
            None, INVALID_REQUEST, "Batches are not served: send each message by itself."
        )
    what = "This is not a JSON-RPC message: see https://www.jsonrpc.org/specification."
    return MessageFault(_get_message_id(value), INVALID_REQUEST, what)


def describe_invalid_line(line: str) -> MessageFault:
    """Return the fault of a line that is not JSON."""
    try:
        value = json.loads(line[:_LINE_MAX_CHARS])
    except ValueError as error:
        return MessageFault(None, PARSE_ERROR, f"This is not JSON: {error}.")
    except RecursionError:
        return MessageFault(None, PARSE_ERROR, "This is not JSON: it is nested too deeply.")
    # Python reads what stands for no character; nobody else does.
    what = "This is not JSON: a surrogate without its other half."
    return MessageFault(_get_message_id(value), PARSE_ERROR, what)


def _get_message_id(message: Any) -> str | int | None:
    found = message.get("id") if isinstance(message, dict) else None
    known = isinstance(found, (str, int)) and not isinstance(found, bool)
    return found if known and str(found).isprintable() else None
