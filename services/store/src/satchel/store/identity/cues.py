"""Phrases by which levels are read, in English and French; ``*`` stands for any ending.

Three ways of reading, of which `satchel.store.identity.reading` has the formulas: a *balance* of two lists,
a *rate* of one list in the sentences, and an *emphasis*, which is a list's share among all such lists.
"""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from satchel.store.identity.phrases import PhraseBook, split_phrases


class Cue(NamedTuple):
    """A phrase speaks for a high level (``is_for``) or for a low one of a path."""

    path: str
    is_for: bool


class Balance(NamedTuple):
    """Phrases that speak for a high level, and such that speak for a low one; semicolons part them."""

    high: str
    low: str


class Rate(NamedTuple):
    """Phrases, and the share of sentences with one of them at which the level is full."""

    phrases: str
    full: float


# fmt: off
_ENTHUSIASM = (
    "great; awesome; amazing; fantastic; wonderful; brilliant; excellent; love it; i love; excited; "
    "exciting; can t wait; absolutely; thrilled; fabulous; genial*; super; formidable*; fantastique*; "
    "magnifique*; j adore; enthousias*; passionnant*; quelle bonne; bravo; hate de; trop bien"
)
_LAUGHTER = (
    "haha*; lol; just kidding; kidding; joke*; pun intended; funny; hilarious; silly; je plaisante; "
    "je rigole; blague*; rigolo*; drole*; mdr; hihi*; pour rire; jeu de mots; hilarant*"
)

BALANCES: Mapping[str, Balance] = MappingProxyType({
    "voice.formality": Balance(
        "therefore; furthermore; moreover; consequently; nevertheless; thus; hence; whereas; regarding; "
        "in accordance with; with respect to; please find; kindly; sincerely; dear sir; dear madam; shall; "
        "par consequent; en outre; de surcroit; neanmoins; toutefois; veuillez; je vous prie; cordialement; "
        "conformement; il convient de; vous; votre; vos",
        "hey; yeah; yep; yup; nope; gonna; wanna; gotta; kinda; sorta; cool; dude; guys; lol; no worries; "
        "sure thing; btw; stuff; it s; that s; let s; i m; i ll; we ll; you ll; you re; don t; can t; "
        "won t; isn t; salut; coucou; ouais; nan; mdr; truc*; machin*; sympa; ca marche; du coup; bah; "
        "ben; tu; ton; tes; toi"),
    "voice.directness": Balance(
        "you should; you must; you need to; do this; the answer is; just use; clearly; bluntly; "
        "definitely; straight to the point; no need to; here is; here s; il faut; tu dois; vous devez; "
        "la reponse est; faites; fais; utilise; utilisez; clairement; concretement; directement; voici",
        "maybe; perhaps; possibly; you might; it might; could be; it depends; i would suggest; "
        "you may wish; sort of; if you like; if you want; peut etre; eventuellement; il se peut; "
        "ca depend; cela depend; il me semble; tu pourrais; vous pourriez; si tu veux; si vous voulez; "
        "si vous le souhaitez"),
    "values.risk_tolerance": Balance(
        "let s try; bold*; experiment*; go for it; take the risk; worth the risk; move fast; osons; "
        "audac*; tentons; prendre le risque; fonce*; lancons",
        "cautious*; careful*; conservative*; to be safe; step back; roll back; rollback; just in case; "
        "prudent*; prudence; par precaution; mefi*; retour arriere; au cas ou"),
    "values.time_horizon": Balance(
        "long term; in the long run; future proof; for years; maintainab*; sustainab*; roadmap; "
        "long terme; a l avenir; perenn*; durable*; maintenab*; feuille de route",
        "right now; quick fix; for now; immediately; asap; short term; right away; tout de suite; "
        "pour l instant; immediatement; court terme; rustine; sur le champ"),
    "values.collective": Balance(
        "we; our; us; together; team*; everyone; community; nous; notre; nos; ensemble; equipe*; tous; "
        "collectif*; communaute*",
        "yourself; on your own; your own; individual*; personally; toi meme; vous meme; individuel*; "
        "personnel*; tout seul; toute seule"),
    "emotion.seriousness": Balance(
        "serious*; critical; critically; crucial*; essential*; warning; grave; it is important; "
        "must not; serieu*; critique; essentiel*; il est important; imperati*; gravement",
        f"{_LAUGHTER}; fun; playful*; amusant*; s amuser"),
    "emotion.calm": Balance(
        "calm*; no rush; take a breath; no worries; relax*; breathe; take your time; calme*; respire*; "
        "pas de panique; doucement; serein*; tranquille*; rien ne presse",
        "urgent*; hurry; immediately; asap; panic*; right now; depeche*; urgence*; au plus vite; vite; "
        "panique*"),
    "emotion.confidence": Balance(
        "certainly; definitely; i m sure; i am sure; i m certain; without a doubt; no doubt; clearly; "
        "of course; guaranteed; certainement; sans aucun doute; bien sur; evidemment; clairement; "
        "j en suis sur*; j en suis certain*; absolument",
        "maybe; perhaps; i think; i believe; not sure; possibly; probably; might; it seems; i guess; "
        "peut etre; je pense; je crois; il semble; probablement; pas sur*; pas certain*; eventuellement; "
        "sans doute"),
    "emotion.optimism": Balance(
        "good news; promising; hopeful*; optimist*; it will work; we ll get there; you ll get there; "
        "bright future; bonne nouvelle; prometteu*; espoir*; ca va marcher; on va y arriver; "
        "tu vas y arriver; vous allez y arriver",
        "unfortunately; sadly; bad news; hopeless*; doomed; it won t work; pointless; malheureusement; "
        "helas; mauvaise nouvelle; sans espoir; ca ne marchera pas; c est fichu; inutile"),
})

RATES: Mapping[str, Rate] = MappingProxyType({
    "voice.humor": Rate(_LAUGHTER, 0.15),
    "voice.empathy": Rate(
        "i understand; i hear you; that must be; that sounds; i m sorry; i am sorry; i can imagine; "
        "makes sense that you; how do you feel; how are you feeling; frustrating; take care; "
        "je comprends; je suis desole*; je t entends; je vous entends; ca doit etre; cela doit etre; "
        "j imagine que; comment te sens; comment vous sentez; prends soin; prenez soin; frustrant*", 0.2),
    "voice.technical_depth": Rate(
        "algorithm*; latenc*; complexit*; thread*; async*; compil*; protocol*; schema*; kernel; api; sql; "
        "json; http*; regex; mutex; cache*; runtime; throughput; concurren*; database*; transaction*; "
        "server*; query; queries; algorithme*; requete*; serveur*; base de donnees; memoire vive; "
        "deploie*; deploy*; protocole*", 0.4),
    "voice.enthusiasm": Rate(_ENTHUSIASM, 0.25),
    "voice.metaphor": Rate(
        "like a; like an; as if; as though; think of it; imagine; metaphor*; analogy; picture a; "
        "comme un; comme une; comme si; imaginez; imaginons; metaphore*; analogie*; pense a; pensez a", 0.2),
    "emotion.warmth": Rate(
        "thank you; thanks; you re welcome; glad; happy to; dear friend; lovely; nice to; my pleasure; "
        "a pleasure; warm*; hope you; take care; merci; avec plaisir; ravi*; heureux; heureuse; "
        "bienvenue; prends soin; prenez soin; j espere que", 0.2),
    "emotion.enthusiasm": Rate(_ENTHUSIASM, 0.25),
    "emotion.playfulness": Rate(
        f"{_LAUGHTER}; fun; playful*; yay; woohoo; wink; amusant*; amuse*; youpi; malicieu*", 0.15),
    "emotion.encouragement": Rate(
        "you can do; you ve got this; keep going; keep it up; well done; good job; great job; nice work; "
        "good start; on the right track; don t give up; proud of; bravo; courage; tu peux le faire; "
        "vous pouvez le faire; tu vas y arriver; vous allez y arriver; bon travail; beau travail; "
        "bien joue; sur la bonne voie; fier de; fiere de; bon debut; continue comme ca; "
        "continuez comme ca", 0.15),
    "emotion.patience": Rate(
        "take your time; no rush; as long as you need; let me explain again; step by step; "
        "one step at a time; let s go over; whenever you re ready; prends ton temps; prenez votre temps; "
        "rien ne presse; pas a pas; etape par etape; reprenons; a ton rythme; a votre rythme; "
        "quand tu veux; quand vous voulez", 0.15),
    "emotion.curiosity": Rate(
        "i wonder; i m curious; curious; tell me more; interesting; fascinat*; what about; je me demande; "
        "curieu*; dis m en plus; dites m en plus; interessant*; fascin*; qu en est il", 0.2),
    "emotion.concern": Rate(
        "worried; worry; worries me; concern*; i m afraid; be careful; beware; watch out; inquiet*; "
        "je crains; attention; mefie*; prenez garde; prends garde; preoccup*; soucieu*", 0.2),
})

EMPHASES: Mapping[str, str] = MappingProxyType({
    "values.accuracy": (
        "accura*; correct; correctly; correctness; precise*; precision; verif*; double check*; exact*; "
        "rigor*; fact check*; rigueur; rigoureu*; fiab*; justesse; sources"),
    "values.helpfulness": (
        "help; helps; helping; helpful*; assist*; support you; useful*; happy to; glad to; let me know; "
        "aide; aider; aidons; utile*; accompagn*; n hesite pas; n hesitez pas; a votre disposition; "
        "a ta disposition"),
    "values.safety": (
        "safe; safely; safety; secur*; backup*; back up; protect*; privacy; harm*; danger*; caution*; "
        "securite; sauvegard*; proteg*; confidential*; confidentialite; prudence"),
    "values.honesty": (
        "honest*; transparen*; i don t know; i do not know; frank*; i was wrong; i admit; i must admit; "
        "truth*; honnete*; franch*; je ne sais pas; j avoue; verite*; je me suis trompe*"),
    "values.efficiency": (
        "efficien*; fast; faster; quick*; streamlin*; optimi*; save time; saves time; performan*; lean; "
        "efficac*; rapid*; gagner du temps; optimis*; simplifi*"),
    "values.creativity": (
        "creativ*; imagin*; original; novel; brainstorm*; new idea*; invent*; what if; innovat*; creatif; "
        "creative; creativite; originale*; idee nouvelle; idees nouvelles; innov*; inspir*; et si on"),
})
# fmt: on


def _book(lists: Iterable[tuple[str, bool, str]]) -> PhraseBook[Cue]:
    return PhraseBook({Cue(path, is_for): split_phrases(text) for path, is_for, text in lists})


def _lists() -> Iterator[tuple[str, bool, str]]:
    for path, (high, low) in BALANCES.items():
        yield path, True, high
        yield path, False, low
    for path, (text, _) in RATES.items():
        yield path, True, text
    for path, text in EMPHASES.items():
        yield path, True, text


LEVEL_CUES: PhraseBook[Cue] = _book(_lists())
