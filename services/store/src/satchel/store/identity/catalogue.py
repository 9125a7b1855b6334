"""The eighteen built-in traits, three of each category, and the phrases that show them.

The phrases of both languages are looked for in every text, without case and accents; ``*`` stands for any
ending.
"""

from collections.abc import Iterator
from typing import NamedTuple

from satchel.store.identity.model import Category
from satchel.store.identity.phrases import PhraseBook, split_phrases


class Kind(NamedTuple):
    """A built-in trait: its name, category, and English and French phrases with semicolons between them."""

    name: str
    category: Category
    english: str
    french: str


# fmt: off
KINDS = (
    Kind("analytical", Category.COGNITIVE,
         "break it down; break this down; break down the; let us analy*; let s analy*; root cause; "
         "trade off*; on the one hand; weigh the; compare the options; logically; it follows that; "
         "the data show*; the evidence; in terms of; decompos*; underlying",
         "analysons; decomposons; cause racine; causes profondes; compromis; d un cote; pesons; comparons; "
         "logiquement; il s ensuit; les donnees montrent; sous jacent*; en termes de; decompos*"),
    Kind("creative", Category.COGNITIVE,
         "imagine if; what if we; brainstorm*; new angle; fresh angle; unconventional; out of the box; "
         "invent*; let s play with; creative; creatively; creativity; reimagin*; twist on; original idea*",
         "imaginons; et si on; et si nous; remue meninges; sous un autre angle; inventons; "
         "sortons des sentiers; creatif; creative; creativite; reinvent*; idee originale; idees originales"),
    Kind("methodical", Category.COGNITIVE,
         "step by step; first of all; let s start with; next step; in order; checklist; one at a time; "
         "systematic*; methodical*; before we move on; then we; plan of action; procedure*",
         "etape par etape; pas a pas; tout d abord; commencons par; prochaine etape; dans l ordre; "
         "liste de controle; un par un; systematique*; methodique*; avant de continuer; ensuite nous; "
         "plan d action"),
    Kind("empathetic", Category.EMOTIONAL,
         "i understand how; i hear you; that must be; that must feel; that sounds hard; "
         "that sounds difficult; it makes sense that you; i can imagine; how are you feeling; "
         "how do you feel; your feelings; i feel for you; i m sorry to hear; that is frustrating; "
         "that s frustrating; understandably",
         "je comprends que; je comprends ce que; je t entends; je vous entends; ca doit etre; "
         "cela doit etre; j imagine que; comment te sens tu; comment vous sentez vous; tes emotions; "
         "vos emotions; c est frustrant; desole d apprendre; desolee d apprendre; "
         "c est normal de ressentir"),
    Kind("enthusiastic", Category.EMOTIONAL,
         "i love this; i love that; love it; so excited; excited to; exciting; amazing; awesome; fantastic; "
         "brilliant; can t wait; what a great; how wonderful; thrilled; delighted",
         "j adore; passionnant*; genial*; formidable*; fantastique*; quelle bonne idee; quelle belle; "
         "trop bien; j ai hate; ravi*; enthousias*; magnifique*"),
    Kind("calm", Category.EMOTIONAL,
         "take a breath; no rush; stay calm; calmly; don t worry; do not worry; no need to worry; relax; "
         "there is no hurry; nothing to fear; it s going to be fine; all is well; one thing at a time",
         "respire*; rien ne presse; reste* calme; calmement; ne t inquiete pas; ne vous inquietez pas; "
         "pas de panique; tout va bien; tranquillement; sereinement; une chose a la fois; doucement"),
    Kind("supportive", Category.SOCIAL,
         "you can do this; you can do it; you ve got this; i m here to help; here for you; well done; "
         "good job; great job; nice work; keep going; keep it up; on the right track; don t give up; "
         "proud of you; happy to help; glad to help",
         "tu peux le faire; vous pouvez le faire; tu vas y arriver; vous allez y arriver; "
         "je suis la pour; bravo; bon travail; beau travail; bien joue; continue comme ca; "
         "continuez comme ca; sur la bonne voie; courage; fier de toi; fier de vous; n hesite pas; "
         "n hesitez pas"),
    Kind("collaborative", Category.SOCIAL,
         "let s work; let us work; together; we can; we could; our next; shall we; what do you think; "
         "your input; your feedback; join forces; side by side; as a team; our goal",
         "travaillons; ensemble; nous pouvons; on peut; nous pourrions; on pourrait; qu en penses tu; "
         "qu en pensez vous; ton avis; votre avis; en equipe; cote a cote; notre objectif"),
    Kind("diplomatic", Category.SOCIAL,
         "with respect; i see your point; both sides; fair point; that s a valid; i would gently; "
         "may i suggest; if i may; understandable; common ground; another way to see; i appreciate your; "
         "you may prefer",
         "avec respect; je vois ce que; les deux points de vue; remarque juste; c est un point valable; "
         "si je peux me permettre; puis je suggerer; comprehensible; terrain d entente; "
         "une autre facon de voir; j apprecie votre; j apprecie ton"),
    Kind("curious", Category.EPISTEMIC,
         "i wonder; i m curious; curious to; tell me more; fascinating; i d love to know; what made you; "
         "why do you; how did you; interesting question; that s interesting; intrigu*; let s explore",
         "je me demande; curieux de; curieuse de; dis m en plus; dites m en plus; fascinant*; "
         "j aimerais savoir; qu est ce qui t a; qu est ce qui vous a; pourquoi as tu; comment as tu; "
         "question interessante; c est interessant; intrigu*; explorons"),
    Kind("humble", Category.EPISTEMIC,
         "i might be wrong; i may be wrong; i could be mistaken; i m not sure; i am not sure; "
         "i don t know; i do not know; correct me if; as far as i know; to the best of my knowledge; "
         "i was wrong; my mistake; i stand corrected; i m no expert",
         "je peux me tromper; je me trompe peut etre; je ne suis pas sur; je ne suis pas certain*; "
         "je ne sais pas; corrige moi si; corrigez moi si; a ma connaissance; je me suis trompe*; "
         "mon erreur; au temps pour moi; je ne suis pas expert*"),
    Kind("rigorous", Category.EPISTEMIC,
         "let s verify; let me verify; double check*; precisely; strictly speaking; according to; "
         "the source; sources say; proof; prove that; to be exact; to be precise; by definition; "
         "test this; measured; reproduc*; edge case*",
         "verifions; je verifie; verifier que; precisement; a proprement parler; selon la; selon le; "
         "d apres; les sources; preuve; prouver que; pour etre exact*; pour etre precis*; par definition; "
         "testons; reproduct*; cas limite*"),
    Kind("humorous", Category.EXPRESSIVE,
         "haha*; just kidding; i m kidding; joke; jokes aside; pun intended; no pun; funny; hilarious; "
         "lol; as they say in the circus; tongue in cheek; cheeky; the punchline",
         "haha*; je plaisante; je rigole; blague*; blague a part; sans mauvais jeu de mots; jeu de mots; "
         "drole*; hilarant*; mdr; rigolo*; clin d oeil; la chute"),
    Kind("concise", Category.EXPRESSIVE,
         "in short; in a nutshell; long story short; briefly; to sum up; tl dr; tldr; bottom line; "
         "the short answer; in one word; short version; in brief",
         "en bref; en resume; en deux mots; brievement; pour faire court; bref; pour resumer; l essentiel; "
         "en un mot; version courte; reponse courte"),
    Kind("vivid", Category.EXPRESSIVE,
         "think of it as; think of it like; picture a; imagine a; it s like a; it is like a; like a well; "
         "as if it were; metaphor*; analogy; paint a picture; in other words it s a",
         "pense a; pensez a; imagine un*; imaginez un*; c est comme un*; c est un peu comme; comme si; "
         "metaphore*; analogie*; figure toi; figurez vous"),
    Kind("honest", Category.ETHICAL,
         "to be honest; honestly; to be frank; frankly; i have to admit; i must admit; in all honesty; "
         "transparen*; i won t pretend; i will not pretend; the truth is; full disclosure; i can t promise; "
         "i cannot promise",
         "pour etre honnete; honnetement; franchement; j avoue; je dois admettre; je dois avouer; "
         "en toute honnetete; en toute franchise; transparen*; je ne vais pas pretendre; la verite; "
         "je ne peux pas promettre; je ne peux promettre"),
    Kind("responsible", Category.ETHICAL,
         "be careful; back up; backup; make sure you; before you delete; at your own risk; safety first; "
         "consult a; seek professional; privacy; consent; side effect*; harmful; protect your; roll back; "
         "rollback",
         "soyez prudent*; sois prudent*; sauvegard*; assure toi; assurez vous; avant de supprimer; "
         "a vos risques; consulte* un; vie privee; consentement; effet* secondaire*; nuisible*; protege*; "
         "retour arriere; par precaution"),
    Kind("fair", Category.ETHICAL,
         "fair to; fairness; unbiased; bias; biased; equality; treat equally; inclusive*; accessib*; "
         "everyone deserves; regardless of; equitab*; impartial*; discriminat*; all perspectives",
         "juste envers; equite; equitable*; biais; egalite; inclusi*; accessib*; chacun merite; "
         "independamment de; impartial*; discrimin*; tous les points de vue"),
)
# fmt: on

BY_NAME = {kind.name: kind for kind in KINDS}


def _phrases() -> Iterator[tuple[str, tuple[str, ...]]]:
    for kind in KINDS:
        yield kind.name, split_phrases(f"{kind.english}; {kind.french}")


TRAIT_PHRASES: PhraseBook[str] = PhraseBook(dict(_phrases()))
