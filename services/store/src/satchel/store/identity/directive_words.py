"""The words of directives in English and French: what can be asked for, and how much of it."""

from collections.abc import Mapping
from types import MappingProxyType

from satchel.runtime.stopwords import word_set
from satchel.store.identity.phrases import PhraseBook, split_phrases

# fmt: off
# What can be asked for. "informal" is a word of its own, and so never "formal".
FAMILIES: Mapping[str, str] = MappingProxyType({
    "enthusiasm": "enthusias*; energetic; excited; passionate; energique*; passionne*; exalte*; entrain",
    "formal": "formal; formally; formality; polite and proper; professional*; ceremonious*; formel; "
              "formelle; formels; formelles; formellement; soutenu; soutenue; protocolaire*; "
              "professionnel*; vouvoie*; vouvoye*",
    "casual": "casual*; informal*; relaxed tone; laid back; colloquial*; chatty; friendly tone; "
              "decontracte*; informel*; familier; familiere; familierement; relache*; detendu*; tutoie*; "
              "tutoye*",
    "humor": "humor; humour; humorous*; funny; funnier; joke; jokes; joking; witty; playful*; drole; "
             "droles; blague; blagues; humoristique*; plaisante*; rigolo*; amusant*",
    "serious": "serious; seriously; earnest*; grave; solemn*; sober; serieux; serieuse; serieusement; "
               "solennel*; sobre",
    "warm": "warm; warmer; warmth; warmly; kind; kinder; caring; friendly; friendlier; empathetic; "
            "empathy; compassionate; chaleureu*; bienveillan*; gentil; gentille; amical*; empathi*; "
            "chaleur",
    "concise": "concise; concisely; concision; brief; briefly; short; shorter; terse; succinct*; "
               "to the point; fewer words; keep it short; concis; concise; concises; bref; breve; "
               "brievement; court; courte; courts; courtes; succinct*; laconique*",
    "detailed": "detailed; detail; details; in depth; elaborate; long; longer; thorough; thoroughly; "
                "detaille*; approfondi*; developpe*; longs; longue; longues; en profondeur; precisions",
    "exhaustive": "exhaustive*; comprehensive*; complete answers; cover everything; leave nothing out; "
                  "exhaustif*; tout couvrir; complet; complete; sans rien omettre",
    "closing summary": "summary; summaries; short summary; brief summary; summarize; summarise; sum up; "
                       "recap; wrap up; takeaways; resume; resumes; resumer; recapitul*; synthese; "
                       "court resume; bref resume; petit resume",
    "direct": "direct; directly; straightforward; blunt; bluntly; frank; to be direct; franc; franche; "
              "franchement; directe; directs; directes; directement; sans detour; cash",
    "technical": "technical; technically; technicality; expert level; jargon; technique; techniques; "
                 "techniquement; pointu; pointue; expert",
    "simple": "simple; simpler; simply; simplify; accessible; plain language; easy to understand; "
              "beginner friendly; layman*; vulgaris*; simplifi*; simplement; simples; "
              "facile a comprendre; grand public; clair et simple",
    "creative": "creative; creatively; creativity; imaginative; inventive; original; creatif; creatifs; "
                "creative; creativite; imaginatif; imaginative; inventif; inventive",
    "emojis": "emoji; emojis; emoticon; emoticons; smiley; smileys; emoticone*; emojies; binette*",
    "bullets": "bullet; bullets; bullet points; bullet lists; bulleted; bullet list; puce; puces; "
               "liste a puces; listes a puces; lists; list; listes; liste; tirets",
    "numbered": "numbered; numbered lists; numbered list; numbering; numbered steps; numerote*; "
                "listes numerotees; liste numerotee; etapes numerotees",
    "positive": "positive; positively; positivity; optimist*; encouraging; encourage; upbeat; positif; "
                "positifs; positive; positivement; encourageant*",
    "neutral": "neutral; neutrally; neutrality; impartial*; objective*; detached; neutre; neutres; "
               "neutralite; objectif; objective; objectifs; detache*",
    "analytical": "analytical; analytically; analytic; logical; logically; rigorous; analytique*; "
                  "logique; logiquement; rigoureu*",
})

_MORE = ("more; increase*; increasing; raise; extra; boost; plus; davantage; augmente*; renforce*; bien plus")
_LESS = (
    "less; fewer; reduce*; decrease*; lower; cut down; tone down; moins; reduis; reduire; diminue*; "
    "baisse*; attenue*; modere*; peu; bien moins"
)
_TOO = "too; overly; excessively; trop; excessivement"
_ENOUGH = "enough; assez; suffisamment"
_MUCH = (
    "much; far; lot; very; really; extremely; highly; super; beaucoup; tres; vraiment; extremement; "
    "nettement; hyper"
)
_LITTLE = "bit; little; slightly; somewhat; kind of; sort of; un peu; legerement; tantinet; un brin"
_NOT = (
    "not; t; never; no; without; avoid*; stop; cease; quit; drop; refrain; remove; cannot; nor; neither; "
    "pas; jamais; sans; evite*; arrete*; cesse*; supprime*; aucun; aucune; ni; ne; n; no longer; no more; "
    "instead of; rather than; au lieu de; au lieu d; plutot que; plutot qu"
)
_VERB = (
    "be; become; sound; use; using; write; make; keep; stay; remain; give; provide; answer; reply; "
    "respond; speak; talk; include; start; end; finish; try; show; sois; soyez; reste; restez; utilise; "
    "utilisez; utiliser; ecris; ecrivez; fais; faites; mets; mettez; donne; donnez; reponds; repondez; "
    "parle; parlez; etre; adopte; adoptez; privilegie; privilegiez; deviens; devenez; rends; rendez; "
    "termine; terminez; commence; commencez; essaie; essayez; prefere; prefer; ajoute; ajoutez; add"
)
_RATHER = "rather; plutot"
_THAN = "than; que; qu"
_BREAK = (
    "but; instead; however; mais; cependant; toutefois; sinon; au contraire; don t hesitate; "
    "do not hesitate; n hesite pas; n hesitez pas"
)
# fmt: on

WORDS: PhraseBook[str] = PhraseBook(
    {
        **{f"family:{name}": split_phrases(text) for name, text in FAMILIES.items()},
        "more": split_phrases(_MORE),
        "less": split_phrases(_LESS),
        "too": split_phrases(_TOO),
        "enough": split_phrases(_ENOUGH),
        "much": split_phrases(_MUCH),
        "little": split_phrases(_LITTLE),
        "not": split_phrases(_NOT),
        "verb": split_phrases(_VERB),
        "break": split_phrases(_BREAK),
        "rather": split_phrases(_RATHER),
        "than": split_phrases(_THAN),
    }
)
# After "not" these leave what follows as it is: "not only formal", "pas seulement formel".
HARMLESS_AFTER_NOT = word_set("only just merely seulement uniquement")
