"""What the referee says in French.

A counted noun is one clip with its number below a hundred: *six*, *huit* and *dix* sound otherwise before a noun than
by themselves. Nouns that are counted begin with a consonant, so that nothing is linked or elided.
"""

from __future__ import annotations

from typing import Final

from referee.announce.phrases.language import COUNTED, JOKERS, MOST, MOST_SEATS, Clips, Language, NoWords

_UNITS: Final = (
    "zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix", "onze", "douze",
    "treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit", "dix-neuf",
)  # fmt: skip
_TENS: Final = ("vingt", "trente", "quarante", "cinquante", "soixante", "soixante", "quatre-vingt", "quatre-vingt")
_NOUNS: Final = {
    "card": ("carte", "cartes"), "chance": ("tentative", "tentatives"), "ms": ("milliseconde", "millisecondes"),
}  # fmt: skip
_RANKS: Final = {"A": "l'as", "T": "le dix", "J": "le valet", "Q": "la dame", "K": "le roi"}
_SUITS: Final = {"s": "de pique", "h": "de cœur", "d": "de carreau", "c": "de trèfle"}
_JOKERS: Final = dict(zip(JOKERS, ("le joker rouge", "le joker noir"), strict=True))


def _below_hundred(value: int) -> str:
    """*vingt et un*, *soixante et onze*, *quatre-vingts*, *quatre-vingt-onze*."""
    if value < len(_UNITS):
        return _UNITS[value]
    tens = value // 10
    head = _TENS[tens - 2]
    # Seventy and ninety go on counting from sixty and eighty.
    unit = value % 10 + (10 if tens in (7, 9) else 0)
    if unit == 0:
        return "quatre-vingts" if tens == 8 else head
    if unit in (1, 11) and tens < 8:
        return f"{head} et {_UNITS[unit]}"
    return f"{head}-{_UNITS[unit]}"


def _feminine(words: str) -> str:
    return words + "e" if words == "un" or words.endswith((" un", "-un")) else words


def number(value: int) -> Clips:
    """``cent`` ``vingt et un``, *deux cents* by itself; raises `NoWords` beyond `MOST`."""
    if not 0 <= value <= MOST:
        raise NoWords(f"no words for {value}: only 0 to {MOST} are rendered")
    hundreds, rest = divmod(value, 100)
    if hundreds == 0:
        return (_below_hundred(rest),)
    return (_hundreds(hundreds), _below_hundred(rest)) if rest else (_full_hundreds(hundreds),)


def _hundreds(hundreds: int) -> str:
    return "cent" if hundreds == 1 else f"{_UNITS[hundreds]} cent"


def _full_hundreds(hundreds: int) -> str:
    return _hundreds(hundreds) + ("s" if hundreds > 1 else "")


def counted(value: int, noun: str) -> Clips:
    """``vingt et une cartes``; ``deux cent`` ``trois cartes``."""
    one, many = _NOUNS[noun]
    *head, last = number(value)
    if value >= 100 and value % 100 == 0:
        return (last, many)
    return (*head, f"{_feminine(last)} {one if value < 2 else many}")


def card(name: str) -> Clips:
    """``le sept`` ``de cœur``."""
    if name in _JOKERS:
        return (_JOKERS[name],)
    rank = _RANKS[name[0]] if name[0] in _RANKS else f"le {_UNITS[int(name[0])]}"
    return (rank, _SUITS[name[1]])


def _numbers() -> Clips:
    counted_ones = (clip for noun in COUNTED for value in (*range(100), 101) for clip in counted(value, noun))
    hundreds = (form(value) for form in (_hundreds, _full_hundreds) for value in range(1, 10))
    nouns = (many for _, many in _NOUNS.values())
    return tuple(dict.fromkeys((*map(_below_hundred, range(100)), *hundreds, *counted_ones, *nouns)))


PHRASES: Final = {
    "slap_won": "{seat} | a tapé en premier",
    "slap_won.margin": "{seat} | a tapé en premier, | {margin}",
    "slap_won.pattern": "{seat} | a tapé en premier, | {pattern}",
    "slap_won.pattern.margin": "{seat} | a tapé en premier, | {pattern}, | {margin}",
    "slap_won.force": "{seat} | avait la main la mieux posée et l'emporte",
    "slap_won.split": "toujours à égalité: | la pile est mélangée et partagée",
    "slap_won.war": "{seat} | gagne la bataille",
    "slap_won.people": "{seat} | l'emporte, | comme la table l'a décidé",
    "margin": "avec | {ms} | d'avance",
    "margin.less": "avec moins d'une milliseconde d'avance",
    "margin.more": "avec plus d'une seconde d'avance",
    "doubt": "le doute profite à qui a tapé",
    "pattern.P2": "sandwich", "pattern.P3a": "grand sandwich", "pattern.P3b": "big mac",
    "pattern.P4a": "suite de trois", "pattern.P4b": "longue suite", "pattern.P5a": "dessus et dessous",
    "pattern.P5b": "dessus et dessous", "pattern.P6": "mariage", "pattern.P7": "divorce", "pattern.P8": "total dix",
    "pattern.P9": "total dix en sandwich", "pattern.P10a": "même enseigne",
    "pattern.P10b": "toutes rouges ou toutes noires", "pattern.P11": "six et neuf", "pattern.P12": "dix sur valet",
    "pattern.P13a": "joker", "pattern.P14": "valeur libre", "pattern.P15": "compte juste", "pattern.P16": "brelan",
    "pattern.P17": "un dix", "pattern.P18": "valet", "pattern.P19": "combinaison maison",
    "pattern.C3b": "joker rouge", "pattern.N4": "paire de figures", "pattern.N6": "défi encaissé",
    "pattern.N14": "carte annoncée",
    "slap_false": "{seat} | a tapé à tort",
    "slap_false.dead_card": "{seat} | a tapé à tort, | sur une carte morte",
    "slap_false.too_soon": "{seat} | a tapé à tort, | trop tôt",
    "slap_false.hovering": "{seat} | a tapé à tort, | la main déjà en l'air",
    "slap_false.late": "{seat} | a tapé à tort, | trop tard",
    "slap_void.locked_out": "{seat} | n'a pas le droit de taper",
    "slap_void.mashing": "{seat}, | ne tambourine pas sur le capteur",
    "slap_void.too_soon": "{seat}, | trop tôt, | ça ne compte pas",
    "slap_void.held": "{seat}, | ta main était déjà posée",
    "slap_void.covered": "{seat}, | la combinaison était déjà couverte",
    "slap_void.overruled": "{seat}, | la tape ne compte pas",
    "dead_heat": "égalité entre | {seats}",
    "and": "et",
    "burn": "{seat} | brûle | {cards}",
    "burn.top": "{seat} | brûle | {cards} | sur la pile",
    "strike": "{seat}, | avertissement numéro | {number}",
    "locked_out": "{seat} | n'a pas le droit de taper",
    "locked_out.game": "{seat}, | aucune tape jusqu'à la fin de la partie",
    "locked_out.pile": "{seat}, | pas de tape tant que la pile n'est pas gagnée",
    "locked_out.rounds": "{seat}, | pas de tape pendant quelques tours",
    "locked_out.cards": "{seat}, | pas de tape pendant quelques cartes",
    "penalty.burn": "brûle | {cards}",
    "penalty.burn.top": "brûle | {cards} | sur la pile",
    "penalty.strike": "avertissement numéro | {number}",
    "penalty.locked_out.game": "aucune tape jusqu'à la fin de la partie",
    "penalty.locked_out.pile": "pas de tape tant que la pile n'est pas gagnée",
    "penalty.locked_out.rounds": "pas de tape pendant quelques tours",
    "penalty.locked_out.cards": "pas de tape pendant quelques cartes",
    "give": "{seat} | donne | {cards} | au | {to}",
    "dead_card.out_of_turn": "{seat} | a joué hors de son tour, | carte morte",
    "dead_card.double_draw": "{seat} | a tiré deux cartes, | carte morte",
    "foul": "{seat}, | faute",
    "foul.peek": "{seat}, | faute, | carte regardée",
    "foul.hover": "{seat}, | faute, | main au-dessus de la pile",
    "foul.double_draw": "{seat}, | faute, | deux cartes à la fois",
    "foul.snap": "{seat}, | carte mal retournée",
    "contested.upheld": "la contestation est rejetée: | {against} | avait raison",
    "contested.refused": "la contestation est admise: | {against} | avait tort",
    "challenge": "{seat} | a droit à | {chances}",
    "chance": "il reste | {chances}",
    "chance.one": "il reste une tentative",
    "challenge_moves": "{seat} | continue avec | {chances}",
    "challenge_off": "le défi est annulé",
    "challenge_won": "{seat} | prend la pile",
    "out": "{seat} | est éliminé",
    "pile": "{seat} | ramasse | {cards}",
    "pile.many": "{seat} | ramasse la pile",
    "slapped_in": "{seat} | revient dans la partie",
    "won": "{seat} | gagne la partie",
    "lost": "{seat} | perd la partie",
    "drawn": "la partie se termine à égalité",
    "repeated": "cette position s'est déjà présentée",
    "corrected": "la correction est notée",
    "correction": "correction:",
    "correction.void": "correction: | la décision est annulée",
    "question.who_was_first": "qui a tapé en premier?",
    "question.unreadable_card": "quelle est cette carte?",
    "question.unreadable_card.cards": "quelle est cette carte, | {card} | ou | {other}?",
    "question.impossible_card": "cette carte ne peut pas être là: | laquelle est-ce?",
    "question.impossible_card.cards": "cette carte ne peut pas être là: | {card} | ou | {other}?",
    "question.order_changed": "l'ordre d'un paquet a changé",
    "question.order_changed.cards": "l'ordre d'un paquet a changé: | {card} | ou | {other}?",
    "question.who_played": "qui a joué cette carte?",
    "question.bottom_card": "quelle carte est tout en dessous?",
    "question.mend_pile": "à qui est cette pile?",
    "question.mend_amendment": "cette correction ne correspond à rien: | regardez l'écran, s'il vous plaît",
    "question.recount": "comptez vos cartes, s'il vous plaît",
    "question.slap_or_card": "qu'est-ce qui est venu en premier, | la tape ou la carte?",
    "question.late_evidence": "une information est arrivée trop tard: | vérifiez la dernière décision",
    "question.nothing_to_contest": "il n'y a rien à contester",
    "question": "regardez l'écran, s'il vous plaît",
    "remind.rings": "retirez bagues, montres et bracelets, s'il vous plaît",
    "remind.turn_away": "retournez vos cartes vers les autres",
    "remind.open_palm": "tapez avec la main ouverte",
    "remind.forehead": "touchez d'abord votre front",
    "remind.other_hand": "tapez avec l'autre main",
    "remind.slap_your_pad": "tape sur ton capteur et pas sur la pile",
    "remind.heckle": "toute la table a vu ça",
    "remind.last_chance": "dernière chance de revenir en tapant",
    "remind.closed": "trois six: | la table est fermée jusqu'à demain",
    "remind.open": "un nouveau jour: | la table rouvre",
    "tell.game_start": "la partie commence avec | {rules}",
    "rules.classic": "les règles classiques",
    "rules.wikipedia-2025": "les règles de Wikipédia de deux mille vingt-cinq",
    "rules.wikipedia-2020": "les règles de Wikipédia de deux mille vingt",
    "rules.wikipedia-2009": "les règles de Wikipédia de deux mille neuf",
    "rules.wikibooks": "les règles de Wikilivres",
    "rules.short": "les règles courtes",
    "rules.classroom": "les règles pour la classe",
    "rules.beggar-my-neighbour": "les règles sans tape",
    "rules.suck-the-well": "les règles sans tape, dans l'autre sens",
    "rules.slapjack": "les règles où l'on tape les valets",
    "rules.own": "vos propres règles",
    "tell.wild_rank": "la valeur libre est le | {number}",
    "tell.roll_call": "{seat}, | tape sur ton capteur",
    "tell.not_heard": "{seat}: | rien entendu, | son capteur est peut-être débranché",
    "tell.roll_call_done": "tous les capteurs répondent",
    "tell.pad_stuck": "{seat}, | ton capteur est bloqué",
    "tell.pad_benched": "{seat}, | ton capteur est coupé pour l'instant",
    "tell.pad_chatters": "{seat}, | ton capteur a un faux contact: | vérifie son câble",
    "tell.pad_works": "{seat}, | ton capteur fonctionne de nouveau",
    "tell.pads_gone": "les capteurs ne répondent plus: | les tapes ne sont pas jugées",
    "tell.pads_back": "les capteurs répondent de nouveau",
    "tell.camera_gone": "la caméra ne répond plus",
    "tell.camera_back": "la caméra répond de nouveau",
    "tell.view_dark": "il fait trop sombre pour voir les cartes",
    "tell.view_blocked": "quelque chose cache la caméra",
    "tell.view_moved": "la caméra a bougé",
    "tell.view_clear": "la caméra voit de nouveau la table",
    "tell.paused": "la partie est en pause",
    "tell.resumed": "la partie continue",
    "tell.still_paused": "la partie reste en pause | jusqu'à ce que vous la repreniez",
    "tell.waits_for_camera": "la partie reprendra | quand la caméra verra la table",
    "tell.taken_up": "la partie avait été interrompue: | elle reprend où elle en était",
    "tell.check_pile": "regardez la pile: | elle n'est plus comme avant",
    "tell.sound_back": "le son est revenu",
    "tell.lights_gone": "les lumières ne répondent plus",
    "tell.lights_back": "les lumières répondent de nouveau",
    "tell.log_gone": "le journal ne peut pas être écrit",
    "tell.log_back": "le journal est de nouveau écrit",
    "tell.late_evidence": "une information est arrivée trop tard: | la décision tient tant que vous ne la corrigez pas",
    "tell.first_hand": "première main: | {seat}, | non jugée: | la caméra ne répond plus",
    "tell.first_hand.margin": "première main: | {seat}, | {margin}, | non jugée: | la caméra ne répond plus",
    "tell.another": "pour une autre partie, | tapez deux fois sur un capteur",
    "tell.off_ask": "éteindre? | Tapez deux fois pour oui",
    "tell.off_stays": "l'appareil reste allumé",
    "tell.off": "l'appareil s'éteint",
    "tell.pair_code": "le code est: | {digits}",
    "tell.sound_test": "voici la voix de l'arbitre",
    "tell.practise_false": "tapé à tort",
    "tell.practise_missed": "manqué",
    "tell.practise_too_soon": "trop tôt",
}  # fmt: skip

FRENCH: Final = Language(
    code="fr",
    name="français",
    phrases=PHRASES,
    seats=tuple(f"siège {_UNITS[place]}" for place in range(1, MOST_SEATS + 1)),
    number=number,
    counted=counted,
    card=card,
    numbers=_numbers(),
    spelling={"Wikipédia": "ouiki pédia", "Wikilivres": "ouikilivres", "joker": "jokère"},
    spaced=":;?!",
)
