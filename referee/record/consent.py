"""What is asked of a person before anything of theirs outlives a game: in plain words, once, in four languages."""

from __future__ import annotations

from typing import Final

from referee.record.retention import Keeping

VERSION: Final = 2
"""Of the text: kept with each answer, so that it is known what somebody agreed to."""

_TEXT: Final = {
    "en": (
        "May this table remember you, {name}?\n"
        "If yes, it keeps: your name; which games you played and who won; each slap of yours, how quick it was and "
        "whether it was right; and small pictures of the cards around a slap, on which your hand can be seen.\n"
        "For how long: {pictures}; {figures}; {games}.\n"
        "Nothing leaves this machine unless somebody here takes it out. You may ask at any time to see it, to take a "
        "copy, or to be forgotten, and then your name is removed from every game, and those games lose their "
        "pictures.\n"
        "If no, you play as your seat's name, and just the same. The game is kept without your name, its pictures too, "
        "and no figure is tied to you beyond it. Only your answer is kept, so that nobody asks again."
    ),
    "es": (
        "¿Puede esta mesa recordarte, {name}?\n"
        "Si dices que sí, guarda: tu nombre; en qué partidas jugaste y quién ganó; cada palmada tuya, lo rápida que "
        "fue y si era correcta; y fotos pequeñas de las cartas en torno a una palmada, en las que se ve tu mano.\n"
        "Cuánto tiempo: {pictures}; {figures}; {games}.\n"
        "Nada sale de esta máquina si nadie de aquí lo saca. En cualquier momento puedes pedir verlo, llevarte una "
        "copia o que se te olvide, y entonces tu nombre se quita de todas las partidas, y esas "
        "partidas pierden sus fotos.\n"
        "Si dices que no, juegas con el nombre de tu asiento, y exactamente igual. La partida se guarda sin tu nombre, "
        "con sus fotos, y después ninguna cifra queda ligada a ti. Solo se guarda tu respuesta, para que nadie "
        "vuelva a preguntar."
    ),
    "de": (
        "Darf dieser Tisch sich dich merken, {name}?\n"
        "Wenn ja, behält er: deinen Namen; welche Partien du gespielt hast und wer gewann; jeden deiner Schläge, wie "
        "schnell er war und ob er richtig war; und kleine Bilder der Karten um einen Schlag herum, auf denen deine "
        "Hand zu sehen ist.\n"
        "Wie lange: {pictures}; {figures}; {games}.\n"
        "Nichts verlässt dieses Gerät, außer jemand von hier nimmt es heraus. Du kannst jederzeit verlangen, es zu "
        "sehen, eine Kopie zu bekommen oder vergessen zu werden; dann wird dein Name aus jeder Partie entfernt, "
        "und diese Partien verlieren ihre Bilder.\n"
        "Wenn nein, spielst du unter dem Namen deines Platzes, und genauso mit. Die Partie bleibt ohne deinen Namen "
        "erhalten, auch ihre Bilder, und danach gehört keine Zahl mehr zu dir. Nur deine Antwort wird behalten, damit "
        "niemand noch einmal fragt."
    ),
    "fr": (
        "Cette table peut-elle se souvenir de toi, {name} ?\n"
        "Si oui, elle garde : ton nom ; quelles parties tu as jouées et qui a gagné ; chacune de tes tapes, sa "
        "rapidité et si elle était juste ; et de petites images des cartes autour d'une tape, où l'on voit ta main.\n"
        "Combien de temps : {pictures} ; {figures} ; {games}.\n"
        "Rien ne quitte cette machine sans que quelqu'un d'ici ne le prenne. Tu peux à tout moment demander à le "
        "voir, à en avoir une copie ou à être oublié·e ; ton nom est alors retiré de chaque partie, et "
        "ces parties perdent leurs images.\n"
        "Si non, tu joues sous le nom de ta place, exactement pareil. La partie est gardée sans ton nom, ses images "
        "aussi, et ensuite aucun chiffre n'est lié à toi. Seule ta réponse est gardée, pour que personne ne redemande."
    ),
}
_PERIODS: Final = {
    "en": ("pictures {} days", "your name and figures {} days after each game", "games {} days"),
    "es": ("las fotos, {} días", "tu nombre y tus cifras, {} días tras cada partida", "las partidas, {} días"),
    "de": (
        "Bilder {} Tage", "deinen Namen und deine Zahlen {} Tage nach jeder Partie", "Partien {} Tage",
    ),
    "fr": ("les images {} jours", "ton nom et tes chiffres {} jours après chaque partie", "les parties {} jours"),
}  # fmt: skip
LANGUAGES: Final = tuple(_TEXT)


def question(name: str, keeping: Keeping, language: str = "en") -> str:
    """What a person is asked, with the periods that hold at this table; raises `KeyError` for another language."""
    pictures, figures, games = (
        words.format(days)
        for words, days in zip(_PERIODS[language], (keeping.pictures, keeping.figures, keeping.games), strict=True)
    )
    return _TEXT[language].format(name=name, pictures=pictures, figures=figures, games=games)
