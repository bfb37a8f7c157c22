"""What the referee says in German.

Counted nouns stand only where nominative and accusative sound alike, so that one set of clips serves all sentences. A
whole sentence after a colon begins with a capital, as German writes it.
"""

from __future__ import annotations

from typing import Final

from referee.announce.phrases.language import JOKERS, MOST, MOST_SEATS, Clips, Language, NoWords

_UNITS: Final = (
    "null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf",
    "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn",
)  # fmt: skip
_TENS: Final = ("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")
_NOUNS: Final = {
    "card": ("Karte", "Karten"), "chance": ("Chance", "Chancen"), "ms": ("Millisekunde", "Millisekunden"),
}  # fmt: skip
_RANKS: Final = {
    "A": "Ass", "2": "Zwei", "3": "Drei", "4": "Vier", "5": "Fünf", "6": "Sechs", "7": "Sieben", "8": "Acht",
    "9": "Neun", "T": "Zehn", "J": "Bube", "Q": "Dame", "K": "König",
}  # fmt: skip
_SUITS: Final = {"s": "Pik", "h": "Herz", "d": "Karo", "c": "Kreuz"}
_JOKERS: Final = dict(zip(JOKERS, ("der rote Joker", "der schwarze Joker"), strict=True))


def _below_hundred(value: int) -> str:
    """The unit goes before the ten: *vierundzwanzig*."""
    if value < len(_UNITS):
        return _UNITS[value]
    tens, unit = divmod(value, 10)
    head = f"{_before_noun(unit)}und" if unit else ""
    return head + _TENS[tens - 2]


def _before_noun(unit: int) -> str:
    """*ein* in front of something, *eins* by itself."""
    return "ein" if unit == 1 else _UNITS[unit]


def number(value: int) -> Clips:
    """``einhundert-`` ``vierundzwanzig``, one word in two clips; raises `NoWords` beyond `MOST`."""
    if not 0 <= value <= MOST:
        raise NoWords(f"no words for {value}: only 0 to {MOST} are rendered")
    hundreds, rest = divmod(value, 100)
    if hundreds == 0:
        return (_below_hundred(rest),)
    head = f"{_before_noun(hundreds)}hundert"
    return (f"{head}-", _below_hundred(rest)) if rest else (head,)


def counted(value: int, noun: str) -> Clips:
    """``eine`` ``Karte``, ``zwei`` ``Karten``."""
    one, many = _NOUNS[noun]
    return ("eine", one) if value == 1 else (*number(value), many)


def card(name: str) -> Clips:
    """``Herz-`` ``Sieben`` is written apart, as players say it: ``Herz`` ``Sieben``."""
    return (_JOKERS[name],) if name in _JOKERS else (_SUITS[name[1]], _RANKS[name[0]])


PHRASES: Final = {
    "slap_won": "{seat} | gewinnt den Schlag",
    "slap_won.margin": "{seat} | gewinnt den Schlag | {margin}",
    "slap_won.pattern": "{seat} | gewinnt den Schlag, | {pattern}",
    "slap_won.pattern.margin": "{seat} | gewinnt den Schlag, | {pattern}, | {margin}",
    "slap_won.force": "{seat} | hat die Hand fester aufgelegt und gewinnt den Schlag",
    "slap_won.split": "immer noch unentschieden: | Der Stapel wird gemischt und geteilt",
    "slap_won.war": "{seat} | gewinnt den Krieg",
    "slap_won.people": "{seat} | gewinnt den Schlag, | wie der Tisch entschieden hat",
    "margin": "um | {ms}",
    "margin.less": "um weniger als eine Millisekunde",
    "margin.more": "um mehr als eine Sekunde",
    "doubt": "im Zweifel für den Schlag",
    "pattern.P2": "Sandwich", "pattern.P3a": "langes Sandwich", "pattern.P3b": "Big Mac",
    "pattern.P4a": "Dreierfolge", "pattern.P4b": "lange Folge", "pattern.P5a": "oben wie unten",
    "pattern.P5b": "oben wie unten", "pattern.P6": "Hochzeit", "pattern.P7": "Scheidung",
    "pattern.P8": "zusammen zehn", "pattern.P9": "zusammen zehn im Sandwich", "pattern.P10a": "alle in einer Farbe",
    "pattern.P10b": "alle rot oder alle schwarz", "pattern.P11": "Sechs und Neun", "pattern.P12": "Zehn auf Bube",
    "pattern.P13a": "Joker", "pattern.P14": "freier Wert", "pattern.P15": "Zahl getroffen",
    "pattern.P16": "Drilling", "pattern.P17": "eine Zehn", "pattern.P18": "Bube", "pattern.P19": "Hausmuster",
    "pattern.C3b": "roter Joker", "pattern.N4": "Bildpaar", "pattern.N6": "Forderung eingelöst",
    "pattern.N14": "angesagte Karte",
    "slap_false": "{seat}: | falsch geschlagen",
    "slap_false.dead_card": "{seat}: | falsch geschlagen, | auf eine tote Karte",
    "slap_false.too_soon": "{seat}: | falsch geschlagen, | zu früh",
    "slap_false.hovering": "{seat}: | falsch geschlagen, | die Hand war schon über dem Stapel",
    "slap_false.late": "{seat}: | falsch geschlagen, | zu spät",
    "slap_void.locked_out": "{seat} | ist gesperrt",
    "slap_void.mashing": "{seat}, | bitte nicht trommeln",
    "slap_void.too_soon": "{seat}, | zu früh, | zählt nicht",
    "slap_void.held": "{seat}, | deine Hand lag schon da",
    "slap_void.covered": "{seat}, | das Muster war schon verdeckt",
    "slap_void.overruled": "{seat}, | der Schlag zählt nicht",
    "dead_heat": "Gleichstand zwischen | {seats}",
    "and": "und",
    "burn": "{seat} | legt | {cards} | unter den Stapel",
    "burn.top": "{seat} | legt | {cards} | auf den Stapel",
    "strike": "{seat}, | Verwarnung Nummer | {number}",
    "locked_out": "{seat} | ist gesperrt",
    "locked_out.game": "{seat}, | keine Schläge mehr in diesem Spiel",
    "locked_out.pile": "{seat}, | keine Schläge, bis der Stapel gewonnen ist",
    "locked_out.rounds": "{seat}, | einige Runden lang keine Schläge",
    "locked_out.cards": "{seat}, | einige Karten lang keine Schläge",
    "penalty.burn": "{cards} | unter den Stapel",
    "penalty.burn.top": "{cards} | auf den Stapel",
    "penalty.strike": "Verwarnung Nummer | {number}",
    "penalty.locked_out.game": "keine Schläge mehr in diesem Spiel",
    "penalty.locked_out.pile": "keine Schläge, bis der Stapel gewonnen ist",
    "penalty.locked_out.rounds": "einige Runden lang keine Schläge",
    "penalty.locked_out.cards": "einige Karten lang keine Schläge",
    "give": "{seat} | gibt | {cards} | an | {to}",
    "dead_card.out_of_turn": "{seat} | war nicht an der Reihe, | tote Karte",
    "dead_card.double_draw": "{seat} | hat zwei Karten gezogen, | tote Karte",
    "foul": "{seat}, | Regelverstoß",
    "foul.peek": "{seat}, | Regelverstoß, | in die Karte geschaut",
    "foul.hover": "{seat}, | Regelverstoß, | Hand über dem Stapel",
    "foul.double_draw": "{seat}, | Regelverstoß, | zwei Karten auf einmal",
    "foul.snap": "{seat}, | schlecht aufgedeckt",
    "contested.upheld": "der Einspruch gilt nicht: | {against} | lag richtig",
    "contested.refused": "der Einspruch gilt: | {against} | lag falsch",
    "challenge": "{seat} | hat | {chances}",
    "chance": "noch | {chances}",
    "chance.one": "noch eine Chance",
    "challenge_moves": "{seat} | macht weiter: | {chances}",
    "challenge_off": "die Forderung ist aufgehoben",
    "challenge_won": "{seat} | bekommt den Stapel",
    "out": "{seat} | ist raus",
    "pile": "{seat} | bekommt | {cards}",
    "pile.many": "{seat} | nimmt den Stapel",
    "slapped_in": "{seat} | ist wieder im Spiel",
    "won": "{seat} | gewinnt das Spiel",
    "lost": "{seat} | verliert das Spiel",
    "drawn": "das Spiel endet unentschieden",
    "repeated": "diese Stellung gab es schon einmal",
    "corrected": "die Korrektur ist vermerkt",
    "correction": "Korrektur:",
    "correction.void": "Korrektur: | Die Entscheidung ist aufgehoben",
    "question.who_was_first": "wer war zuerst da?",
    "question.unreadable_card": "welche Karte ist das?",
    "question.unreadable_card.cards": "welche Karte ist das, | {card} | oder | {other}?",
    "question.impossible_card": "diese Karte kann hier nicht sein: | Welche ist es?",
    "question.impossible_card.cards": "diese Karte kann hier nicht sein: | {card} | oder | {other}?",
    "question.order_changed": "die Reihenfolge in einem Stapel hat sich geändert",
    "question.order_changed.cards": "die Reihenfolge in einem Stapel hat sich geändert: | {card} | oder | {other}?",
    "question.who_played": "wer hat diese Karte gelegt?",
    "question.bottom_card": "welche Karte liegt ganz unten?",
    "question.mend_pile": "wem gehört dieser Stapel?",
    "question.mend_amendment": "diese Korrektur passt nicht: | Bitte auf den Bildschirm schauen",
    "question.recount": "bitte zählt eure Karten",
    "question.slap_or_card": "was war zuerst da, | der Schlag oder die Karte?",
    "question.late_evidence": "ein Hinweis kam zu spät: | Bitte prüft die letzte Entscheidung",
    "question.nothing_to_contest": "hier gibt es nichts anzufechten",
    "question": "Bitte auf den Bildschirm schauen",
    "remind.rings": "bitte Ringe, Uhren und Armbänder ablegen",
    "remind.turn_away": "deckt eure Karten von euch weg auf",
    "remind.open_palm": "schlagt mit der flachen Hand",
    "remind.forehead": "erst an die Stirn fassen",
    "remind.other_hand": "schlagt mit der anderen Hand",
    "remind.slap_your_pad": "schlag auf dein Feld und nicht auf den Stapel",
    "remind.heckle": "das haben alle gesehen",
    "remind.last_chance": "letzte Chance, sich wieder hineinzuschlagen",
    "remind.closed": "drei Sechsen: | Der Tisch ist bis morgen geschlossen",
    "remind.open": "ein neuer Tag: | Der Tisch ist wieder offen",
    "tell.game_start": "das Spiel beginnt, es gelten | {rules}",
    "rules.classic": "die klassischen Regeln",
    "rules.wikipedia-2025": "die Wikipedia-Regeln von zweitausendfünfundzwanzig",
    "rules.wikipedia-2020": "die Wikipedia-Regeln von zweitausendzwanzig",
    "rules.wikipedia-2009": "die Wikipedia-Regeln von zweitausendneun",
    "rules.wikibooks": "die Regeln von Wikibooks",
    "rules.short": "die kurzen Regeln",
    "rules.classroom": "die Regeln fürs Klassenzimmer",
    "rules.beggar-my-neighbour": "die Regeln ohne Schläge",
    "rules.suck-the-well": "die Regeln ohne Schläge, andersherum",
    "rules.slapjack": "die Regeln, nach denen man Buben schlägt",
    "rules.own": "eure eigenen Hausregeln",
    "tell.wild_rank": "der freie Wert ist | {number}",
    "tell.roll_call": "{seat}, | schlag auf dein Feld",
    "tell.not_heard": "{seat} | war nicht zu hören: | Vielleicht ist das Feld nicht angeschlossen",
    "tell.roll_call_done": "alle Felder sind zu hören",
    "tell.pad_stuck": "{seat}, | dein Feld klemmt",
    "tell.pad_benched": "{seat}, | dein Feld ist vorerst abgeschaltet",
    "tell.pad_chatters": "{seat}, | dein Feld hat einen Wackelkontakt: | Bitte prüf das Kabel",
    "tell.pad_works": "{seat}, | dein Feld geht wieder",
    "tell.pads_gone": "die Felder sind ausgefallen: | Schläge werden nicht gewertet",
    "tell.pads_back": "die Felder gehen wieder",
    "tell.camera_gone": "Die Kamera ist ausgefallen",
    "tell.camera_back": "die Kamera geht wieder",
    "tell.view_dark": "es ist zu dunkel, um die Karten zu sehen",
    "tell.view_blocked": "etwas verdeckt die Kamera",
    "tell.view_moved": "die Kamera wurde verschoben",
    "tell.view_clear": "die Kamera sieht den Tisch wieder",
    "tell.paused": "das Spiel ist unterbrochen",
    "tell.resumed": "das Spiel geht weiter",
    "tell.still_paused": "das Spiel bleibt unterbrochen, | bis ihr weiterspielt",
    "tell.waits_for_camera": "das Spiel geht weiter, | sobald die Kamera den Tisch sieht",
    "tell.taken_up": "das Spiel war abgebrochen: | Es geht an derselben Stelle weiter",
    "tell.check_pile": "bitte seht nach dem Stapel: | Er liegt nicht mehr wie vorher",
    "tell.sound_back": "der Ton ist wieder da",
    "tell.lights_gone": "die Lichter sind ausgefallen",
    "tell.lights_back": "die Lichter gehen wieder",
    "tell.log_gone": "das Protokoll kann nicht geschrieben werden",
    "tell.log_back": "das Protokoll wird wieder geschrieben",
    "tell.late_evidence": "etwas kam zu spät: | Die Entscheidung gilt, bis ihr sie korrigiert",
    "tell.first_hand": "erste Hand: | {seat}, | nicht gewertet: | Die Kamera ist ausgefallen",
    "tell.first_hand.margin": "erste Hand: | {seat}, | {margin}, | nicht gewertet: | Die Kamera ist ausgefallen",
    "tell.another": "tippt zweimal auf ein Feld, | um noch einmal zu spielen",
    "tell.off_ask": "ausschalten? | Zweimal tippen heißt ja",
    "tell.off_stays": "nicht ausgeschaltet",
    "tell.off": "das Gerät schaltet sich aus",
    "tell.pair_code": "der Code lautet: | {digits}",
    "tell.sound_test": "das ist die Stimme des Schiedsrichters",
    "tell.practise_false": "falsch geschlagen",
    "tell.practise_missed": "verpasst",
    "tell.practise_too_soon": "zu früh",
}  # fmt: skip

GERMAN: Final = Language(
    code="de",
    name="Deutsch",
    phrases=PHRASES,
    seats=tuple(f"Platz {_UNITS[place]}" for place in range(1, MOST_SEATS + 1)),
    number=number,
    counted=counted,
    card=card,
    spelling={"Sandwich": "Sändwitsch", "Mac": "Mäck", "Wikibooks": "Wikibuks"},
    numbers=(
        *map(_below_hundred, range(100)), *(f"{_before_noun(value)}hundert" for value in range(1, 10)), "eine",
        *(noun for nouns in _NOUNS.values() for noun in nouns),
    ),
)  # fmt: skip
