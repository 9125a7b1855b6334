"""Function words of English and French: what a search or a tag can do without.

Two words of different languages share a spelling now and then (``car`` is a vehicle in English and
a conjunction in French), so the sets that are only safe when the language is known are kept apart.
All words are folded as `satchel.runtime.folding.fold` folds them: lower case, without accents.
"""


def word_set(text: str) -> frozenset[str]:
    """Return the words of ``text``, which white space parts."""
    return frozenset(text.split())


ENGLISH = word_set(
    """
    a about above after again against ain all also am an and any are aren as at be because been before
    being below between both but by can cannot could couldn d did didn do does doesn doing don down during
    each few for from further had hadn has hasn have haven having he her here hers herself him himself his
    how i if in into is isn it its itself just may me might more most much must my myself no nor not of
    off on once only or other our ours ourselves out over own same shall shan she should shouldn so some
    such than that the their theirs them themselves then there these they this those through to too under
    until up upon very was wasn we were weren what when where which while who whom whose why will with won
    would wouldn you your yours yourself yourselves
    """
)

FRENCH = word_set(
    """
    a ai aie ait alors apres as au aucun aucune aussi autre autres aux avaient avait avant avec avez avoir
    avons bien car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci comme dans de des
    donc dont du elle elles en encore entre es est et etaient etais etait etant ete etes etre eu eux fait
    font il ils je la laquelle le lequel les lesquels leur leurs lui ma mais me meme memes mes mien moi
    mon ne ni nos notre nous on ont ou par parce pas plus pour pourquoi qu quand que quel quelle quelles
    quels qui quoi sa sans se sera serait ses si soi soit sommes son sont sous suis sur ta te tes toi ton
    tous tout toute toutes tres tu un une vers vos votre vous y
    """
)

ENGLISH_CONTENT = word_set(
    """
    as bien car es est font me moi mien main on plus pour sans sera son sous tout ton
    """
)
"""French function words that carry meaning in an English text, unless English has them too."""

FRENCH_CONTENT = word_set(
    """
    an but don or won am
    """
)
"""English function words that carry meaning in a French text (year, aim, gift, gold)."""

ANY_LANGUAGE = ENGLISH | (FRENCH - (ENGLISH_CONTENT - ENGLISH))
"""Safe to drop when the language is not known."""

_FRENCH_ALONE = FRENCH - ENGLISH
_ENGLISH_ALONE = ENGLISH - FRENCH
_FRENCH_TEXT = FRENCH | (ENGLISH - FRENCH_CONTENT)


def stop_words(words: frozenset[str]) -> frozenset[str]:
    """Return the stop words for a text that holds these folded words.

    The language is the one whose own function words (those that the other lacks) occur more often;
    English when in doubt.
    """
    french, english = len(words & _FRENCH_ALONE), len(words & _ENGLISH_ALONE)
    return _FRENCH_TEXT if french > english else ANY_LANGUAGE
