"""`make voice`: render every clip of a language into the user's cache, so that the first game need not wait."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hardware.ports import HardwareMissing
from hardware.sound.clips import Clips, cache_folder, find_synthesiser
from hardware.sound.piper import open_piper
from hardware.sound.speaker import WavSpeaker
from referee.announce.voice import spelling, tell, vocabulary
from referee.text.catalogue import LANGUAGES


def _progress(done: int, of: int) -> None:
    print(f"\r{done} of {of} clips", end="" if done < of else "\n", file=sys.stderr, flush=True)


def main(argv: list[str] | None = None) -> int:
    """Render; returns the exit status."""
    parser = argparse.ArgumentParser(prog="make voice", description="render the referee's clips into the user's cache")
    parser.add_argument("language", choices=LANGUAGES, help="what the referee speaks")
    parser.add_argument("--piper", type=Path, metavar="FILE", help="path of a Piper voice (.onnx)")
    parser.add_argument("--sample", type=Path, metavar="FILE.wav", help="write a sentence to listen to")
    options = parser.parse_args(argv)
    words = vocabulary(options.language)
    try:
        speaks = open_piper(options.piper, options.language) if options.piper else find_synthesiser(options.language)
        clips = Clips(speaks, spelling=spelling(options.language))
        made = clips.render(words, _progress)
        if options.sample is not None:
            hear = WavSpeaker(clips, options.sample, clock=lambda: 0)
            hear.say(tell("first_hand", 0, options.language, seat=2, margin=14_000_000).clips, urgent=True)
            hear.close()
    except HardwareMissing as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{clips.voice} speaks {options.language}: {len(words)} clips, {made} of them new, in {cache_folder()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
