"""What the referee says in Spanish: forms that Spain and Latin America share, so no *vosotros* and no *ustedes*.

Seats are called without an article, as commentators call numbered players; "al" stands where "to the" is needed.
"""

from __future__ import annotations

from typing import Final

from referee.announce.phrases.language import JOKERS, MOST, MOST_SEATS, Clips, Language, NoWords

_UNITS: Final = (
    "cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve", "diez", "once", "doce",
    "trece", "catorce", "quince", "dieciséis", "diecisiete", "dieciocho", "diecinueve", "veinte", "veintiuno",
    "veintidós", "veintitrés", "veinticuatro", "veinticinco", "veintiséis", "veintisiete", "veintiocho", "veintinueve",
)  # fmt: skip
_TENS: Final = ("treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa")
_HUNDREDS: Final = (
    "ciento", "doscientos", "trescientos", "cuatrocientos", "quinientos", "seiscientos", "setecientos", "ochocientos",
    "novecientos",
)  # fmt: skip
_NOUNS: Final = {
    "card": ("carta", "cartas"), "chance": ("oportunidad", "oportunidades"), "ms": ("milisegundo", "milisegundos"),
}  # fmt: skip
_FEMININE: Final = ("card", "chance")
_RANKS: Final = {"A": "el as", "T": "el diez", "J": "la jota", "Q": "la reina", "K": "el rey"}
_SUITS: Final = {"s": "de picas", "h": "de corazones", "d": "de diamantes", "c": "de tréboles"}
_JOKERS: Final = dict(zip(JOKERS, ("el comodín rojo", "el comodín negro"), strict=True))


def _below_hundred(value: int) -> str:
    if value < len(_UNITS):
        return _UNITS[value]
    tens, unit = divmod(value, 10)
    return _TENS[tens - 3] + (f" y {_UNITS[unit]}" if unit else "")


def _masculine(words: str) -> str:
    """Before a masculine noun *uno* loses its end: *un*, *veintiún*, *treinta y un*."""
    if words == "veintiuno":
        return "veintiún"
    return words[:-1] if words.endswith("uno") else words


def _feminine(words: str) -> str:
    """Before a feminine noun: *una*, *veintiuna*, *doscientas*; *ciento* and *cien* stay."""
    if words.endswith("uno"):
        return words[:-1] + "a"
    return words[:-2] + "as" if words.endswith(("cientos", "quinientos")) else words


def number(value: int) -> Clips:
    """``ciento`` ``veintiuno``, *cien* by itself; raises `NoWords` beyond `MOST`."""
    if not 0 <= value <= MOST:
        raise NoWords(f"no words for {value}: only 0 to {MOST} are rendered")
    hundreds, rest = divmod(value, 100)
    if hundreds == 0:
        return (_below_hundred(rest),)
    if value == 100:
        return ("cien",)
    head = _HUNDREDS[hundreds - 1]
    return (head, _below_hundred(rest)) if rest else (head,)


def counted(value: int, noun: str) -> Clips:
    """``una`` ``carta``, ``veintiún`` ``milisegundos``."""
    form = _feminine if noun in _FEMININE else _masculine
    one, many = _NOUNS[noun]
    return (*map(form, number(value)), one if value == 1 else many)


def card(name: str) -> Clips:
    """``el siete`` ``de corazones``."""
    if name in _JOKERS:
        return (_JOKERS[name],)
    rank = _RANKS[name[0]] if name[0] in _RANKS else f"el {_UNITS[int(name[0])]}"
    return (rank, _SUITS[name[1]])


def _numbers() -> Clips:
    plain = (*map(_below_hundred, range(100)), "cien", *_HUNDREDS)
    forms = (*plain, *map(_masculine, plain), *map(_feminine, plain))
    return tuple(dict.fromkeys((*forms, *(noun for nouns in _NOUNS.values() for noun in nouns))))


PHRASES: Final = {
    "slap_won": "{seat} | gana el manotazo",
    "slap_won.margin": "{seat} | gana el manotazo | {margin}",
    "slap_won.pattern": "{seat} | gana el manotazo, | {pattern}",
    "slap_won.pattern.margin": "{seat} | gana el manotazo, | {pattern}, | {margin}",
    "slap_won.force": "{seat} | tuvo más contacto y gana el manotazo",
    "slap_won.split": "sigue el empate: | el montón se baraja y se reparte",
    "slap_won.war": "{seat} | gana la guerra",
    "slap_won.people": "{seat} | gana el manotazo, | como decidió la mesa",
    "margin": "por | {ms}",
    "margin.less": "por menos de un milisegundo",
    "margin.more": "por más de un segundo",
    "doubt": "la duda favorece a quien golpeó",
    "pattern.P2": "sándwich", "pattern.P3a": "sándwich doble", "pattern.P3b": "big mac",
    "pattern.P4a": "escalera de tres", "pattern.P4b": "escalera larga", "pattern.P5a": "arriba y abajo",
    "pattern.P5b": "arriba y abajo", "pattern.P6": "matrimonio", "pattern.P7": "divorcio", "pattern.P8": "suman diez",
    "pattern.P9": "suman diez en sándwich", "pattern.P10a": "del mismo palo", "pattern.P10b": "del mismo color",
    "pattern.P11": "seis y nueve", "pattern.P12": "diez sobre jota", "pattern.P13a": "comodín",
    "pattern.P14": "valor libre", "pattern.P15": "cuenta exacta", "pattern.P16": "trío",
    "pattern.P17": "un diez", "pattern.P18": "jota", "pattern.P19": "patrón de la casa",
    "pattern.C3b": "comodín rojo", "pattern.N4": "pareja de figuras", "pattern.N6": "desafío cobrado",
    "pattern.N14": "carta cantada",
    "slap_false": "{seat}: | manotazo en falso",
    "slap_false.dead_card": "{seat}: | manotazo en falso | sobre una carta muerta",
    "slap_false.too_soon": "{seat}: | manotazo en falso, | demasiado pronto",
    "slap_false.hovering": "{seat}: | manotazo en falso, | con la mano en el aire",
    "slap_false.late": "{seat}: | manotazo en falso, | demasiado tarde",
    "slap_void.locked_out": "{seat} | no puede golpear",
    "slap_void.mashing": "{seat}, | no tamborilees en la almohadilla",
    "slap_void.too_soon": "{seat}, | demasiado pronto, | no vale",
    "slap_void.held": "{seat}, | tu mano ya estaba apoyada",
    "slap_void.covered": "{seat}, | el patrón ya estaba tapado",
    "slap_void.overruled": "{seat}, | el manotazo no vale",
    "dead_heat": "empate entre | {seats}",
    "and": "y",
    "burn": "{seat} | quema | {cards}",
    "burn.top": "{seat} | quema | {cards} | encima del montón",
    "strike": "{seat}, | aviso número | {number}",
    "locked_out": "{seat} | no puede golpear",
    "locked_out.game": "{seat}, | sin más manotazos en esta partida",
    "locked_out.pile": "{seat}, | sin manotazos hasta que alguien gane el montón",
    "locked_out.rounds": "{seat}, | sin manotazos durante unas rondas",
    "locked_out.cards": "{seat}, | sin manotazos durante unas cartas",
    "penalty.burn": "quema | {cards}",
    "penalty.burn.top": "quema | {cards} | encima del montón",
    "penalty.strike": "aviso número | {number}",
    "penalty.locked_out.game": "sin más manotazos en esta partida",
    "penalty.locked_out.pile": "sin manotazos hasta que alguien gane el montón",
    "penalty.locked_out.rounds": "sin manotazos durante unas rondas",
    "penalty.locked_out.cards": "sin manotazos durante unas cartas",
    "give": "{seat} | da | {cards} | al | {to}",
    "dead_card.out_of_turn": "{seat} | jugó fuera de turno, | carta muerta",
    "dead_card.double_draw": "{seat} | sacó dos cartas, | carta muerta",
    "foul": "{seat}, | falta",
    "foul.peek": "{seat}, | falta, | miró su carta",
    "foul.hover": "{seat}, | falta, | la mano en el aire",
    "foul.double_draw": "{seat}, | falta, | dos cartas a la vez",
    "foul.snap": "{seat}, | carta mal descubierta",
    "contested.upheld": "la protesta no vale: | {against} | tenía razón",
    "contested.refused": "la protesta vale: | {against} | no tenía razón",
    "challenge": "{seat} | tiene | {chances}",
    "chance": "quedan | {chances}",
    "chance.one": "queda una oportunidad",
    "challenge_moves": "{seat} | sigue con | {chances}",
    "challenge_off": "el desafío queda anulado",
    "challenge_won": "{seat} | se lleva el montón",
    "out": "{seat} | queda fuera",
    "pile": "{seat} | recoge | {cards}",
    "pile.many": "{seat} | recoge el montón",
    "slapped_in": "{seat} | vuelve a la partida",
    "won": "{seat} | gana la partida",
    "lost": "{seat} | pierde la partida",
    "drawn": "la partida termina en empate",
    "repeated": "esta posición ya se había dado",
    "corrected": "corrección anotada",
    "correction": "corrección:",
    "correction.void": "corrección: | la decisión queda anulada",
    "question.who_was_first": "¿quién llegó antes?",
    "question.unreadable_card": "¿qué carta es esta?",
    "question.unreadable_card.cards": "¿qué carta es esta, | {card} | o | {other}?",
    "question.impossible_card": "esta carta no puede estar aquí: | ¿cuál es?",
    "question.impossible_card.cards": "esta carta no puede estar aquí: | ¿es | {card} | o | {other}?",
    "question.order_changed": "el orden de un mazo ha cambiado",
    "question.order_changed.cards": "el orden de un mazo ha cambiado: | ¿es | {card} | o | {other}?",
    "question.who_played": "¿quién jugó esta carta?",
    "question.bottom_card": "¿qué carta está abajo del todo?",
    "question.mend_pile": "¿de quién es este montón?",
    "question.mend_amendment": "esta corrección no encaja: | por favor, mira la pantalla",
    "question.recount": "por favor, hay que contar las cartas",
    "question.slap_or_card": "¿qué fue antes, | el manotazo o la carta?",
    "question.late_evidence": "un dato llegó tarde: | conviene revisar la última decisión",
    "question.nothing_to_contest": "no hay nada que protestar",
    "question": "por favor, mira la pantalla",
    "remind.rings": "fuera anillos, relojes y pulseras, por favor",
    "remind.turn_away": "descubre la carta hacia los demás",
    "remind.open_palm": "golpea con la palma abierta",
    "remind.forehead": "primero tócate la frente",
    "remind.other_hand": "golpea con la otra mano",
    "remind.slap_your_pad": "golpea tu almohadilla y no el montón",
    "remind.heckle": "eso lo ha visto toda la mesa",
    "remind.last_chance": "última oportunidad para volver con un manotazo",
    "remind.closed": "tres seises: | la mesa se cierra hasta mañana",
    "remind.open": "un nuevo día: | la mesa vuelve a abrirse",
    "tell.game_start": "empieza la partida con | {rules}",
    "rules.classic": "las reglas clásicas",
    "rules.wikipedia-2025": "las reglas de Wikipedia de dos mil veinticinco",
    "rules.wikipedia-2020": "las reglas de Wikipedia de dos mil veinte",
    "rules.wikipedia-2009": "las reglas de Wikipedia de dos mil nueve",
    "rules.wikibooks": "las reglas de Wikilibros",
    "rules.short": "las reglas breves",
    "rules.classroom": "las reglas para clase",
    "rules.beggar-my-neighbour": "las reglas sin manotazos",
    "rules.suck-the-well": "las reglas sin manotazos, al revés",
    "rules.slapjack": "las reglas del manotazo a la jota",
    "rules.own": "las reglas de la casa",
    "tell.wild_rank": "el valor libre es el | {number}",
    "tell.roll_call": "{seat}, | golpea tu almohadilla",
    "tell.not_heard": "{seat}: | no se ha oído nada, | quizá su almohadilla esté desenchufada",
    "tell.roll_call_done": "todas las almohadillas responden",
    "tell.pad_stuck": "{seat}, | tu almohadilla está atascada",
    "tell.pad_benched": "{seat}, | tu almohadilla queda apagada por ahora",
    "tell.pad_chatters": "{seat}, | tu almohadilla hace mal contacto: | revisa el cable",
    "tell.pad_works": "{seat}, | tu almohadilla vuelve a funcionar",
    "tell.pads_gone": "las almohadillas no responden: | los manotazos no se juzgan",
    "tell.pads_back": "las almohadillas vuelven a funcionar",
    "tell.camera_gone": "la cámara no responde",
    "tell.camera_back": "la cámara vuelve a funcionar",
    "tell.view_dark": "está demasiado oscuro para ver las cartas",
    "tell.view_blocked": "algo tapa la cámara",
    "tell.view_moved": "la cámara se ha movido",
    "tell.view_clear": "la cámara vuelve a ver la mesa",
    "tell.paused": "la partida está en pausa",
    "tell.resumed": "la partida continúa",
    "tell.still_paused": "la partida sigue en pausa | hasta que alguien la reanude",
    "tell.waits_for_camera": "la partida continuará | cuando la cámara vea la mesa",
    "tell.taken_up": "la partida se había interrumpido: | continúa donde estaba",
    "tell.check_pile": "hay que revisar el montón: | ya no está como antes",
    "tell.sound_back": "vuelve el sonido",
    "tell.lights_gone": "las luces no funcionan",
    "tell.lights_back": "las luces vuelven a funcionar",
    "tell.log_gone": "no se puede escribir el registro",
    "tell.log_back": "el registro vuelve a escribirse",
    "tell.late_evidence": "un dato llegó tarde: | la decisión vale mientras nadie la corrija",
    "tell.first_hand": "primera mano: | {seat}, | sin juzgar: | la cámara no responde",
    "tell.first_hand.margin": "primera mano: | {seat}, | {margin}, | sin juzgar: | la cámara no responde",
    "tell.another": "para otra partida, | dos toques en una almohadilla",
    "tell.off_ask": "¿apagar? | Dos toques para decir que sí",
    "tell.off_stays": "no se apaga",
    "tell.off": "el aparato se apaga",
    "tell.pair_code": "el código es: | {digits}",
    "tell.sound_test": "esta es la voz del árbitro",
    "tell.practise_false": "manotazo en falso",
    "tell.practise_missed": "se te ha pasado",
    "tell.practise_too_soon": "demasiado pronto",
}  # fmt: skip

SPANISH: Final = Language(
    code="es",
    name="español",
    phrases=PHRASES,
    seats=tuple(f"asiento {_UNITS[place]}" for place in range(1, MOST_SEATS + 1)),
    number=number,
    counted=counted,
    card=card,
    numbers=_numbers(),
)
