"""Who said what: finds the turns of the agent in a conversation.

What is not known to be the agent's is never taken for it: a line that begins with a name which is not the
agent's ends its turn.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from satchel.runtime.folding import fold
from satchel.runtime.stopwords import word_set

_AGENT = word_set(
    "assistant agent ai ia bot chatbot model modele claude chatgpt gpt gemini copilot llama mistral"
)
_OTHERS = word_set("""
    user human person client customer me you system developer tool function utilisateur utilisatrice humain
    personne usager cliente moi toi vous systeme developpeur outil fonction
    """)
# Words before a colon that head a paragraph and name nobody.
_HEADINGS = word_set("""
    note notes step steps example examples warning caution summary answer question questions result results
    conclusion tip tips input output error errors important problem solution reason reasons why how what when
    where pros cons option options first second third finally next todo ps nb tldr update fix code key
    remarque remarques etape etapes exemple exemples attention resume reponse resultat resultats astuce entree
    sortie erreur erreurs probleme raison raisons pourquoi comment quand avantages inconvenients choix
    premierement deuxiemement enfin ensuite bref cause causes effet idee plan context contexte goal objectif
    """)
_LABEL = re.compile(
    r"""
    [ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?         # a time in brackets
    (?P<mark>\#{1,4}[ \t]+|\*\*|__)?            # a heading, or bold
    (?P<name>[^\W\d_][\w.\- ]{0,59}?)           # the name
    [ \t]{0,4}(?:\([^)\n]{0,60}\))?             # a remark, such as the model
    (?:\*\*|__)?[ \t]{0,4}:[ \t]*(?:\*\*|__)?   # the colon, inside or outside of the bold
    (?P<rest>.*)
    """,
    re.VERBOSE,
)
_HEADING = re.compile(r"[ \t]*#{1,4}[ \t]+(?P<name>[^\W\d_][\w.\- ]{0,59})")
_NAME_WORDS = 3


class Message(NamedTuple):
    """One message of a conversation; ``role`` is ``assistant``, ``user``, ``system`` or ``tool``."""

    role: str
    content: str
    name: str = ""


def agent_turns(conversation: str, agent_id: str) -> tuple[str, ...]:
    """Return what the agent said in a text, turn by turn; nothing where no line names a speaker.

    The text names the speaker before each turn, or is a JSON list of messages (or an object with
    ``messages``). Where the agent's own name is among the speakers, only its turns count.
    """
    messages = _messages_of(conversation)
    if messages is not None:
        return agent_messages(messages, agent_id)
    labelled = list(_labelled(conversation, _key(agent_id)))
    own = [text for name, text in labelled if name == _key(agent_id)]
    turns = own or [text for name, text in labelled if _is_agent(name)]
    return tuple(turn.strip() for turn in turns if turn.strip())


def agent_messages(messages: Sequence[Message], agent_id: str) -> tuple[str, ...]:
    """Return what the agent said in messages; as `agent_turns`."""
    said = [message for message in messages if _is_agent(_key(message.role))]
    own = [message for message in said if _key(message.name) == _key(agent_id)]
    return tuple(message.content for message in own or said if message.content.strip())


def _labelled(text: str, own: str) -> Iterator[tuple[str, str]]:
    """Yield the speaker's key and the text of each turn; what stands before the first speaker is left out."""
    speaker, lines = "", list[str]()
    for line in text.splitlines():
        found = _speaker(line, own)
        if found is None:
            lines.append(line)
            continue
        if speaker:
            yield speaker, "\n".join(lines)
        speaker, lines = found[0], [found[1]]
    if speaker:
        yield speaker, "\n".join(lines)


def _speaker(line: str, own: str) -> tuple[str, str] | None:
    """Return the key of the speaker whom a line names and the rest of the line; None if it names nobody."""
    if (heading := _HEADING.fullmatch(line)) and _is_known(_key(heading["name"]), own):
        return _key(heading["name"]), ""
    match = _LABEL.fullmatch(line)
    if match is None:
        return None
    key = _key(match["name"])
    is_named = _is_known(key, own) or (not match["mark"] and _may_be_name(match["name"]))
    return (key, match["rest"]) if is_named else None


def _is_known(key: str, own: str) -> bool:
    return _is_agent(key) or key in _OTHERS or key == own


def _may_be_name(text: str) -> bool:
    """Tell whether a text looks like a name: up to three words with capitals, none of them a heading's."""
    words = text.split()
    return len(words) <= _NAME_WORDS and all(
        word[0].isupper() and fold(word) not in _HEADINGS for word in words
    )


def _is_agent(key: str) -> bool:
    return key in _AGENT


def _key(name: str) -> str:
    return " ".join(fold(name).split())


def _messages_of(text: str) -> tuple[Message, ...] | None:
    """Return the messages that a text holds as JSON; None if it is no such JSON."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    items = value.get("messages") if isinstance(value, dict) else value
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    return tuple(
        Message(_text(item.get("role")), _text(item.get("content")), _text(item.get("name")))
        for item in items
    )


def _text(value: object) -> str:
    """Return a text, or the texts of a list of content parts."""
    if isinstance(value, list):
        parts = (part.get("text") if isinstance(part, dict) else part for part in value)
        return "\n".join(part for part in parts if isinstance(part, str))
    return value if isinstance(value, str) else ""
