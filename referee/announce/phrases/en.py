"""What the referee says in English. Ids of rules that bring a phrase about stand in `rows`."""

from __future__ import annotations

from typing import Final

from referee.announce.phrases.language import JOKERS, MOST, MOST_SEATS, Clips, Language, NoWords

_UNITS: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TEENS: Final = range(13, 20)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NOUNS: Final = {
    "card": ("card", "cards"), "chance": ("chance", "chances"), "ms": ("millisecond", "milliseconds"),
}  # fmt: skip
_RANKS: Final = {"A": "ace", "T": "ten", "J": "jack", "Q": "queen", "K": "king"}
_SUITS: Final = {"s": "of spades", "h": "of hearts", "d": "of diamonds", "c": "of clubs"}
_JOKERS: Final = dict(zip(JOKERS, ("the red joker", "the black joker"), strict=True))


def _below_hundred(value: int) -> str:
    if value < len(_UNITS):
        return _UNITS[value]
    tens, unit = divmod(value, 10)
    return _TENS[tens - 2] + (f" {_UNITS[unit]}" if unit else "")


def number(value: int) -> Clips:
    """``one hundred and`` ``twenty one``; raises `NoWords` beyond `MOST`."""
    if not 0 <= value <= MOST:
        raise NoWords(f"no words for {value}: only 0 to {MOST} are rendered")
    hundreds, rest = divmod(value, 100)
    if hundreds == 0:
        return (_below_hundred(rest),)
    head = f"{_UNITS[hundreds]} hundred"
    return (f"{head} and", _below_hundred(rest)) if rest else (head,)


def counted(value: int, noun: str) -> Clips:
    """``one`` ``card``, ``two`` ``cards``; ``nineteen cards`` in one clip, for apart it is heard as *ninety*."""
    one, many = _NOUNS[noun]
    *head, last = number(value)
    if value % 100 in _TEENS:
        return (*head, f"{last} {many}")
    return (*head, last, one if value == 1 else many)


def card(name: str) -> Clips:
    """``the seven`` ``of hearts``."""
    if name in _JOKERS:
        return (_JOKERS[name],)
    rank = _RANKS[name[0]] if name[0] in _RANKS else _UNITS[int(name[0])]
    return (f"the {rank}", _SUITS[name[1]])


_HUNDREDS: Final = tuple(f"{_UNITS[value]} hundred{tail}" for value in range(1, 10) for tail in ("", " and"))

PHRASES: Final = {
    "slap_won": "{seat} | wins the slap",
    "slap_won.margin": "{seat} | wins the slap | {margin}",
    "slap_won.pattern": "{seat} | wins the slap, | {pattern}",
    "slap_won.pattern.margin": "{seat} | wins the slap, | {pattern}, | {margin}",
    "slap_won.force": "{seat} | has the firmer hand and wins the slap",
    "slap_won.split": "still a tie: | the pile is shuffled and shared",
    "slap_won.war": "{seat} | wins the war",
    "slap_won.people": "{seat} | wins the slap, | as the table decided",
    "margin": "by | {ms}",
    "margin.less": "by less than one millisecond",
    "margin.more": "by more than one second",
    "doubt": "the doubt goes to the slapper",
    "pattern.P2": "sandwich", "pattern.P3a": "hoagie", "pattern.P3b": "big mac", "pattern.P4a": "run of three",
    "pattern.P4b": "a long run", "pattern.P5a": "top and bottom", "pattern.P5b": "top and bottom",
    "pattern.P6": "marriage", "pattern.P7": "divorce", "pattern.P8": "tens", "pattern.P9": "add up sandwich",
    "pattern.P10a": "flush", "pattern.P10b": "colour run", "pattern.P11": "six and nine", "pattern.P12": "ten on jack",
    "pattern.P13a": "joker", "pattern.P14": "wild rank", "pattern.P15": "count match",
    "pattern.P16": "three of a kind", "pattern.P17": "any ten", "pattern.P18": "jack", "pattern.P19": "house pattern",
    "pattern.C3b": "red joker", "pattern.N4": "court pair", "pattern.N6": "the challenge is collected",
    "pattern.N14": "named and laid",
    "slap_false": "{seat}, | false slap",
    "slap_false.dead_card": "{seat}, | false slap | on a dead card",
    "slap_false.too_soon": "{seat}, | false slap, | too soon",
    "slap_false.hovering": "{seat}, | false slap, | hovering",
    "slap_false.late": "{seat}, | false slap, | too late",
    "slap_void.locked_out": "{seat} | is locked out",
    "slap_void.mashing": "{seat}, | do not drum on the pad",
    "slap_void.too_soon": "{seat}, | too soon, | no slap",
    "slap_void.held": "{seat}, | your hand was down already",
    "slap_void.covered": "{seat}, | the pattern was covered",
    "slap_void.overruled": "{seat}, | the slap does not count",
    "dead_heat": "tie between | {seats}",
    "and": "and",
    "burn": "{seat} | burns | {cards}",
    "burn.top": "{seat} | burns | {cards} | on top of the pile",
    "strike": "{seat}, | strike | {number}",
    "locked_out": "{seat} | is locked out",
    "locked_out.game": "{seat}, | no more slaps this game",
    "locked_out.pile": "{seat}, | no slaps until the pile is won",
    "locked_out.rounds": "{seat}, | no slaps for some rounds",
    "locked_out.cards": "{seat}, | no slaps for some cards",
    "penalty.burn": "burn | {cards}",
    "penalty.burn.top": "burn | {cards} | on top of the pile",
    "penalty.strike": "strike | {number}",
    "penalty.locked_out.game": "no more slaps this game",
    "penalty.locked_out.pile": "no slaps until the pile is won",
    "penalty.locked_out.rounds": "no slaps for some rounds",
    "penalty.locked_out.cards": "no slaps for some cards",
    "give": "{seat} | gives | {cards} | to | {to}",
    "dead_card.out_of_turn": "{seat} | played out of turn, | dead card",
    "dead_card.double_draw": "{seat} | drew two cards, | dead card",
    "foul": "{seat}, | foul",
    "foul.peek": "{seat}, | foul, | peeking",
    "foul.hover": "{seat}, | foul, | hovering",
    "foul.double_draw": "{seat}, | foul, | two cards at once",
    "foul.snap": "{seat}, | a bad reveal, | snapped down",
    "contested.upheld": "the contest fails, | {against} | was right",
    "contested.refused": "the contest is right, | {against} | was wrong",
    "challenge": "{seat} | has | {chances}",
    "chance": "{chances} | left",
    "chance.one": "one chance left",
    "challenge_moves": "{seat} | goes on with | {chances}",
    "challenge_off": "the challenge is off",
    "challenge_won": "{seat} | takes the pile",
    "out": "{seat} | is out",
    "pile": "{seat} | picks up | {cards}",
    "pile.many": "{seat} | picks up the pile",
    "slapped_in": "{seat} | is back in the game",
    "won": "{seat} | wins the game",
    "lost": "{seat} | loses the game",
    "drawn": "the game is a draw",
    "repeated": "this position was here before",
    "corrected": "the correction is noted",
    "correction": "correction:",
    "correction.void": "correction: | the ruling is taken back",
    "question.who_was_first": "who was first?",
    "question.unreadable_card": "which card is this?",
    "question.unreadable_card.cards": "which card is this? | {card} | or | {other}?",
    "question.impossible_card": "this card cannot be here: | which card is it?",
    "question.impossible_card.cards": "this card cannot be here: | {card} | or | {other}?",
    "question.order_changed": "the order of a stack has changed",
    "question.order_changed.cards": "the order of a stack has changed: | {card} | or | {other}?",
    "question.who_played": "who played this card?",
    "question.bottom_card": "which card is at the bottom?",
    "question.mend_pile": "whose pile is this?",
    "question.mend_amendment": "this correction fits nothing: | please look at the screen",
    "question.recount": "please count your cards",
    "question.slap_or_card": "what was first, | the slap or the card?",
    "question.late_evidence": "late evidence: | please check the last ruling",
    "question.nothing_to_contest": "there is nothing to contest",
    "question": "please look at the screen",
    "remind.rings": "please take off rings, watches and bracelets",
    "remind.turn_away": "turn your cards away from yourself",
    "remind.open_palm": "slap with an open palm",
    "remind.forehead": "touch your forehead first",
    "remind.other_hand": "slap with the other hand",
    "remind.slap_your_pad": "slap your pad and not the pile",
    "remind.heckle": "everybody saw that one",
    "remind.last_chance": "last chance to slap in",
    "remind.closed": "three sixes: | the table is closed until tomorrow",
    "remind.open": "a new day: | the table is open again",
    "tell.game_start": "the game begins with | {rules}",
    "rules.classic": "classic rules",
    "rules.wikipedia-2025": "the Wikipedia rules of twenty twenty five",
    "rules.wikipedia-2020": "the Wikipedia rules of twenty twenty",
    "rules.wikipedia-2009": "the Wikipedia rules of two thousand nine",
    "rules.wikibooks": "the Wikibooks rules",
    "rules.short": "the short rules",
    "rules.classroom": "classroom rules",
    "rules.beggar-my-neighbour": "beggar my neighbour rules",
    "rules.suck-the-well": "suck the well rules",
    "rules.slapjack": "slapjack rules",
    "rules.own": "your own house rules",
    "tell.wild_rank": "the wild rank is | {number}",
    "tell.roll_call": "{seat}, | slap your pad",
    "tell.not_heard": "{seat} | was not heard: | its pad may be unplugged",
    "tell.roll_call_done": "all pads are heard",
    "tell.pad_stuck": "{seat}, | your pad is stuck",
    "tell.pad_benched": "{seat}, | your pad is switched off for now",
    "tell.pad_chatters": "{seat}, | your pad chatters: | please check its cable",
    "tell.pad_works": "{seat}, | your pad works again",
    "tell.pads_gone": "the pads are gone: | slaps are not judged",
    "tell.pads_back": "the pads are back",
    "tell.camera_gone": "the camera is gone",
    "tell.camera_back": "the camera is back",
    "tell.view_dark": "it is too dark to see the cards",
    "tell.view_blocked": "something is before the camera",
    "tell.view_moved": "the camera was moved",
    "tell.view_clear": "the camera sees the table again",
    "tell.paused": "the game is paused",
    "tell.resumed": "the game goes on",
    "tell.still_paused": "the game stays paused until you go on",
    "tell.waits_for_camera": "the game goes on when the camera sees the table",
    "tell.taken_up": "the game was broken off: | it goes on where it stood",
    "tell.check_pile": "please check the pile: | it is not as it was",
    "tell.sound_back": "the sound is back",
    "tell.lights_gone": "the lights are gone",
    "tell.lights_back": "the lights are back",
    "tell.log_gone": "the log can not be written",
    "tell.log_back": "the log is written again",
    "tell.late_evidence": "something was told too late: | the ruling stands until you correct it",
    "tell.first_hand": "first hand: | {seat}, | not judged: | the camera is gone",
    "tell.first_hand.margin": "first hand: | {seat}, | {margin}, | not judged: | the camera is gone",
    "tell.another": "tap a pad twice for another game",
    "tell.off_ask": "switch off? | Tap twice for yes",
    "tell.off_stays": "not switched off",
    "tell.off": "switching off",
    "tell.pair_code": "the code is: | {digits}",
    "tell.sound_test": "this is the voice of the referee",
    "tell.practise_false": "false slap",
    "tell.practise_missed": "missed",
    "tell.practise_too_soon": "too soon",
}  # fmt: skip

ENGLISH: Final = Language(
    code="en",
    name="English",
    phrases=PHRASES,
    seats=tuple(f"seat {_UNITS[place]}" for place in range(1, MOST_SEATS + 1)),
    number=number,
    counted=counted,
    card=card,
    numbers=(
        *map(_below_hundred, range(100)), *_HUNDREDS,
        *(noun for nouns in _NOUNS.values() for noun in nouns),
        *(f"{_UNITS[teen]} {many}" for teen in _TEENS for _, many in _NOUNS.values()),
    ),
)  # fmt: skip
