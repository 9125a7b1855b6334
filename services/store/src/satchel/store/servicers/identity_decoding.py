"""Requests of `IdentityService` as the store's nouns; refuses what no field option can say."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from satchel.api.store.v1 import identity_service_pb2 as pb
from satchel.runtime.errors import InvalidRequest
from satchel.store.cursors import decode_token
from satchel.store.engine.identity_writing import Capture, Swap
from satchel.store.errors import NothingToChange
from satchel.store.identity.editing import TraitEdit
from satchel.store.identity.model import Category
from satchel.store.identity.patching import Action, Patch, TraitChange
from satchel.store.identity.prompts import Language
from satchel.store.identity.turns import Message
from satchel.store.identity_ports import Agent
from satchel.store.servicers.decoding import DEFAULT_PROJECT, json_text

_LONGEST_CONVERSATION = 200_000
_DEFAULT_HISTORY, _LARGEST_PAGE = 10, 100
_ROLES: Mapping[int, str] = MappingProxyType(
    {
        pb.CAPTURED_SPEAKER_ASSISTANT: "assistant",
        pb.CAPTURED_SPEAKER_USER: "user",
        pb.CAPTURED_SPEAKER_SYSTEM: "system",
        pb.CAPTURED_SPEAKER_TOOL: "tool",
    }
)
_LEVELS: Mapping[str, str] = MappingProxyType(
    {
        "enthusiasm_level": "voice.enthusiasm",
        "formality_level": "voice.formality",
        "humor_level": "voice.humor",
        "empathy_level": "voice.empathy",
        "technical_depth": "voice.technical_depth",
        "directness_level": "voice.directness",
        "vocabulary_richness": "voice.vocabulary",
        "metaphor_usage": "voice.metaphor",
        "warmth": "emotion.warmth",
        "emotion_enthusiasm": "emotion.enthusiasm",
        "playfulness": "emotion.playfulness",
        "seriousness": "emotion.seriousness",
        "encouragement": "emotion.encouragement",
    }
)
_FLAGS: Mapping[str, str] = MappingProxyType(
    {"uses_emojis": "voice.uses_emojis", "uses_markdown": "voice.uses_markdown"}
)
_STYLES: Mapping[str, str] = MappingProxyType(
    {
        "sentence_structure": "voice.sentence_structure",
        "explanation_style": "voice.explanation_style",
        "response_length": "communication.response_length",
        "structure_preference": "communication.structure",
    }
)
_ADDED: Mapping[str, str] = MappingProxyType(
    {
        "add_catch_phrases": "catch_phrases",
        "add_preferred_openings": "openings",
        "add_preferred_closings": "closings",
    }
)
_REMOVED: Mapping[str, str] = MappingProxyType(
    {
        "remove_catch_phrases": "catch_phrases",
        "remove_preferred_openings": "openings",
        "remove_preferred_closings": "closings",
    }
)
_PATCHABLE = (*_LEVELS, *_FLAGS, *_STYLES, *_ADDED, *_REMOVED, "traits")


class OfAgent(Protocol):
    """A request that names an agent."""

    @property
    def agent_id(self) -> str:
        """The agent."""
        ...

    @property
    def project(self) -> str:
        """Its project; empty for the default one."""
        ...


def agent(request: OfAgent) -> Agent:
    """Return whose identity a request is about."""
    return Agent(request.project or DEFAULT_PROJECT, request.agent_id)


def language(number: int) -> Language:
    """Return the language of a text; English where none is named."""
    return Language.FR if number == pb.IDENTITY_LANGUAGE_FR else Language.EN


def capture(request: pb.CaptureIdentityRequest) -> Capture:
    """Decode a conversation.

    Raises:
        InvalidRequest: there is none, or there are two, or its messages are too long together.
    """
    if request.conversation and request.messages:
        raise _refused("messages", "FIELDS_CONFLICT", "empty beside 'conversation'", "Send one of the two.")
    if not request.conversation and not request.messages:
        remedy = "Send 'conversation' or 'messages'."
        raise _refused("conversation", "FIELD_REQUIRED", "not empty without 'messages'", remedy)
    length = sum(len(message.content) for message in request.messages)
    if length > _LONGEST_CONVERSATION:
        limit = f"at most {_LONGEST_CONVERSATION} characters together, not {length}"
        raise _refused("messages", "FIELD_TOO_LONG", limit, "Capture the conversation in parts.")
    return Capture(
        conversation=request.conversation,
        messages=tuple(Message(_ROLES[one.role], one.content, one.name) for one in request.messages),
        model_id=request.model_id,
        session_id=request.session_id,
        metrics=json_text(request.behavioral_metrics),
        reason=request.reason,
    )


def swap(request: pb.SwapModelRequest) -> Swap:
    """Decode a change of the model.

    Raises:
        InvalidRequest: the models are the same.
    """
    if request.from_model == request.to_model:
        remedy = "Name the model that the agent goes to."
        raise _refused("to_model", "FIELDS_CONFLICT", "another than 'from_model'", remedy)
    return Swap(
        from_model=request.from_model,
        to_model=request.to_model,
        reason=request.reason,
        language=language(request.language),
        budget=request.budget,
    )


def patch(request: pb.PatchIdentityRequest) -> Patch:
    """Decode values for single fields.

    Raises:
        NothingToChange: none is set.
    """
    given = {field.name: value for field, value in request.ListFields()}
    decoded = Patch(
        levels={path: given[name] for name, path in _LEVELS.items() if name in given},
        flags={path: given[name] for name, path in _FLAGS.items() if name in given},
        styles={path: given[name] for name, path in _STYLES.items() if name in given},
        added_phrases={kind: tuple(given.get(name, ())) for name, kind in _ADDED.items()},
        removed_phrases={kind: tuple(given.get(name, ())) for name, kind in _REMOVED.items()},
        traits=tuple(map(_trait, request.traits)),
    )
    if decoded.is_empty:
        raise NothingToChange(_PATCHABLE)
    return decoded


def clamping_notes(request: pb.PatchIdentityRequest) -> list[str]:
    """Say which numbers lie beyond [0, 1] and were taken as the nearer end."""
    numbers = [(field.name, value) for field, value in request.ListFields() if field.name in _LEVELS]
    for place, trait in enumerate(request.traits):
        if trait.HasField("intensity"):
            numbers.append((f"traits[{place}].intensity", trait.intensity))
        if trait.HasField("confidence"):
            numbers.append((f"traits[{place}].confidence", trait.confidence))
    return [
        f"The field '{name}' was {value:g} and was taken as {int(value > 0)}."
        for name, value in numbers
        if not 0 <= value <= 1
    ]


def history_limit(request: pb.ListIdentityHistoryRequest) -> int:
    """Return how many versions go on a page."""
    return min(request.limit or _DEFAULT_HISTORY, _LARGEST_PAGE)


def page_size(request: pb.ListIdentitiesRequest) -> int:
    """Return how many agents go on a page."""
    return min(request.page_size or _LARGEST_PAGE, _LARGEST_PAGE)


def before_version(request: pb.ListIdentityHistoryRequest, arguments: bytes) -> int:
    """Return the version before which a page begins; 0 for the newest.

    Raises:
        PageTokenMismatch: the token is damaged or of another listing.
    """
    return max(0, decode_token(request.page_token, arguments).created_at) if request.page_token else 0


def after_agent(request: pb.ListIdentitiesRequest, arguments: bytes) -> str:
    """Return the name after which a page begins; empty for the first.

    Raises:
        PageTokenMismatch: the token is damaged or of another listing.
    """
    return decode_token(request.page_token, arguments).id if request.page_token else ""


def _trait(change: pb.TraitChange) -> TraitChange:
    edit = TraitEdit(
        name=change.name,
        category=Category(change.category) if change.category else None,
        intensity=change.intensity if change.HasField("intensity") else None,
        confidence=change.confidence if change.HasField("confidence") else None,
    )
    return TraitChange(Action(change.action or Action.UPSERT), edit)


def _refused(field: str, reason: str, limit: str, remedy: str) -> InvalidRequest:
    return InvalidRequest.of(
        field,
        f"ERROR_REASON_{reason}",
        f"The field '{field}' must be {limit}. {remedy}",
        limit=limit,
        remedy=remedy,
    )
