"""Words of English and French by which a text says what caused it, or what it changes.

Each relation has one pattern over the text in lower case. Words that are nouns or speak of time as often
("updates", "since", "car") count only where what stands beside them says which they are. A wrong trigger
costs little, since a link also needs a memory with the same subject; but a denied one must never count.
"""

import re

from satchel.runtime.folding import fold, normalise
from satchel.runtime.stopwords import word_set
from satchel.store.model import Relation, Trigger

_STRAIGHT = str.maketrans({"\u2019": "'", "\u02bc": "'", "\xa0": " ", "\u202f": " "})
_LONGEST = 60  # code points of a phrase as it is kept
_BACK = 60  # code points before a trigger that may deny it

# What follows a verb but hardly a noun, in either language.
_OBJECT = (
    r"(?=\s+(?:the|an?|our|this|that|these|those|its|his|her|their|my|your|all|both|every|any|it|them|what|how|"
    r"some|several|most|le|la|les|ce|cet|cette|ces|une?|notre|nos|son|sa|ses|leurs?|tou[st]|toutes?|"
    r"d[ée]finitivement|enfin|aussi|#?\d+)\b|\s+(?:l|d|qu)')"
)
# What stands before a noun: "the updates", "security fixes", "no addresses".
_NOT_NOUN = "".join(
    rf"(?<!\b{word} )"
    for word in sorted(
        word_set(
            """
            the these those any some all no more several of and software security new latest recent other
            daily weekly email mail ip mac la une cette en de chaque toute aucune les
            """
        )
    )
)
# What follows a verb and not a noun: neither a preposition nor an auxiliary verb, nor the end of a clause.
_NOT_BY_NOUN = (
    r"(?!\s+(?:to|from|on|in|for|about|and|or|by|at|of|are|is|were|was|have|had|has|will|can|may)\b)"
    r"(?!\s*[.,;:!?)]|\s*$)"
)
_NOT_THE = r"(?<!the )(?<!these )(?<!those )(?<!as )(?<!is )(?<!are )(?<!was )(?<!were )(?<!been )(?<!by )"
_NOT_LOOK = r"(?<!look )(?<!looks )(?<!looked )(?<!looking )(?<!named )(?<!called )(?<!day )"
_TIMES = (
    r"then|when|ever|yesterday|today|last|this (?:morning|week|month|year)|early|late|mid|v?\d+|version|"
    r"(?:the|its) (?:start|beginning|launch|inception|release|last|first)|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|"
    r"october|november|december"
)
_AFTER_CAR = (
    r"(?=\s+(?:le|la|les|il|elle|ils|elles|on|nous|vous|je|ce|cela|ça|ceci|celui|une?|des|notre|nos|votre|vos|son|sa|"
    r"ses|leurs?|cet|cette|ces|aucune?|trop|tout|chaque|sans|avec|y)\b|\s+(?:l|j|c|n|s|d|qu)')"
)

_PATTERNS = {
    Relation.TRIGGERED: (
        _NOT_THE + r"following(?!\s*:|\s+(?:up|on|is|are|steps?|in)\b)",
        _NOT_LOOK + r"after(?!-)(?!\s+(?:all|\d+|lunch|hours|noon)\b)",
        r"in response to",
        r"triggered by",
        r"(?<!la )(?<!une )(?<!cette )suite (?:à|aux?)",
        r"(?<!la )(?<!une )(?<!cette )(?<!test )suite a (?:la|une?|nos|notre|cette)",
        r"[àa] la suite (?:des?|du|d')",
        r"(?<!d')apr[èe]s(?!-)(?! tout\b| coup\b)",
        r"d[ée]clench[ée]e?s? par",
        r"en r[ée]ponse (?:[àa]|aux?)",
    ),
    Relation.BECAUSE: (
        r"because(?: of)?",
        rf"since(?!-)(?!\s+(?:{_TIMES})\b)(?!\s*[.,;:!?]|\s*$)",
        r"due to(?!\s+(?:be|start|begin|end|expire|arrive|launch|ship|go|land)\b)",
        r"as a result of",
        r"parce qu(?:e|')",
        r"puisqu(?:e|')",
        r"en raison (?:des?|du|d')",
        r"gr[âa]ce (?:à|aux?)",
        r"grâce a",
        r"[àa] cause (?:des?|du|d')",
        rf"(?<!the )(?<!an )(?<!a )(?<!my )(?<!our )(?<!by )(?<!le )(?<!un )(?<!en )(?<!du )car{_AFTER_CAR}",
        r"(?<=, )car(?!\s+(?:and|or|is|was)\b)(?=\s)",
    ),
    Relation.CONTRADICTS: (
        r"contradict(?:s|ed|ing)?",
        r"(?<!merge )conflict(?:s|ed|ing)? with",
        r"inconsistent with",
        r"contredi(?:t|sent|sait|saient)",
        r"incompatibles? avec",
        r"en contradiction avec",
    ),
    Relation.UPDATES: (
        rf"{_NOT_NOUN}updates{_NOT_BY_NOUN}",
        rf"updated{_OBJECT}",
        r"replace[sd](?!-)",
        r"supersede[sd]",
        r"(?:met|mettent|mettons|mis) [àa] jour",
        r"remplac(?:e|ent|ons|[ée]e?s?|ait)",
        r"actualis(?:e|ent|ons|ée?s?)",
    ),
    Relation.RESOLVES: (
        r"resolve[sd](?!\s+to\b)",
        r"solve[sd]",
        rf"{_NOT_NOUN}(?:fixes|addresses){_NOT_BY_NOUN}",
        rf"(?:fixed|addressed)(?:{_OBJECT}|(?=\s+(?:in|by)\b))",
        r"r[ée]so(?:ut|lvent|lvons|lue?s?)",
        rf"{_NOT_NOUN}r[èe]gl(?:e|ent|ons){_OBJECT}",
        rf"r[ée]gl(?:é|ée|és|ées){_OBJECT}",
        r"corrig(?:e|ent|eons|ée?s?)",
        r"solutionn(?:e|ent|ons|ée?s?)",
    ),
}
_RULES = {
    relation: re.compile(rf"(?<![\w'-])(?:{'|'.join(parts)})(?:(?<=')|(?!\w))", re.MULTILINE)
    for relation, parts in _PATTERNS.items()
}
# A text without any of these has no trigger of the relation, which most texts show at once.
_HINTS = {
    Relation.TRIGGERED: ("following", "after", "response", "triggered", "suite", "apr", "clench", "ponse"),
    Relation.BECAUSE: (
        "because",
        "since",
        "due to",
        "result",
        "ce qu",
        "puisqu",
        "raison",
        "gr",
        "cause",
        "car",
    ),
    Relation.CONTRADICTS: ("contra", "conflict", "inconsistent", "contredi", "incompatible"),
    Relation.UPDATES: ("update", "replace", "supersede", "jour", "remplac", "actualis"),
    Relation.RESOLVES: ("solv", "fixe", "addresse", "sout", "solu", "regl", "règl", "régl", "corrig"),
}
# A conjunction is denied by the word before it ("not because"): "we did not move because" denies something
# else. "Not only because" denies nothing.
_DENIES_NEXT = re.compile(
    r"(?:\b(?:not|never|nor|neither|pas|non|ni|jamais)|n't)\s+"
    r"(?:(?:really|actually|directly|necessarily|vraiment|directement|forc[ée]ment)\s+)?$"
)
# A verb is denied by a word up to three words before it: "has not yet been resolved", "ne contredit pas".
_DENIES_VERB = re.compile(
    r"(?:\b(?:not|no|never|nothing|nobody|none|nor|neither|cannot|without|hardly|ne|jamais|sans|ni|rien|aucune?)\b|n't\b|\bn')"
    r"(?:\s*(?!(?:only|and|but|or|et|mais|ou)\b)[\w'-]+){0,3}\s*$"
)
_CLAUSE = re.compile(r"[.,;:!?()\n]")
_DENIED = {
    Relation.TRIGGERED: _DENIES_NEXT,
    Relation.BECAUSE: _DENIES_NEXT,
    Relation.CONTRADICTS: _DENIES_VERB,
    Relation.UPDATES: _DENIES_VERB,
    Relation.RESOLVES: _DENIES_VERB,
}


def find_triggers(text: str) -> tuple[Trigger, ...]:
    """Return the first trigger of each relation that a text does not deny, in the order of the relations.

    Each phrase is folded: in lower case, without accents. "However" is no trigger: it contrasts, and does
    not say that anything is wrong.
    """
    lower = normalise(text).lower().translate(_STRAIGHT)
    found = ((relation, _first(lower, relation)) for relation in Relation)
    return tuple(Trigger(relation, phrase) for relation, phrase in found if phrase)


def _first(lower: str, relation: Relation) -> str:
    if not any(hint in lower for hint in _HINTS[relation]):
        return ""
    for match in _RULES[relation].finditer(lower):
        before = _CLAUSE.split(lower[max(0, match.start() - _BACK) : match.start()])[-1]
        if not _DENIED[relation].search(before):
            return " ".join(fold(match.group()).split())[:_LONGEST]
    return ""
