"""A wizard outside the terminal: answered from any thread, with its devices on a thread of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from referee.setup.bench import Bench
from referee.setup.wizard import DeviceCall, Failure, Question, Remark, Wizard


class WizardRunner:
    """A wizard, the bench for its device calls, and the state to show of both."""

    def __init__(self, wizard: Wizard, bench: Bench, keep: Callable[[Wizard], None]) -> None:
        """Begin.

        Args:
            wizard: at its first request.
            bench: the devices; a method may set ``heard`` while it waits.
            keep: called with the wizard whenever its settings or its step have changed.
        """
        self.wizard, self._bench, self._keep = wizard, bench, keep
        self._changed = threading.Condition(threading.RLock())
        self._remarks: list[str] = []
        self._busy = ""
        self._complaint = ""
        self._wish = ""
        """The move to make once the device call at work has ended: ``back``, or ``step NAME``."""
        self._version = 0
        self.over = threading.Event()
        """Set when the wizard has ended or was stopped."""
        self._worker = threading.Thread(target=self._work, name="wizard", daemon=True)
        self._worker.start()

    def say(self, text: str) -> str:
        """Answer the current question, or give one of the wizard's commands or ``step NAME``; return a complaint, or an
        empty text.
        """
        with self._changed:
            if not isinstance(self.wizard.request, Question):
                # A person may leave while a device call waits; then its result does not count.
                self._wish = text.strip() if self._is_way(text.strip()) else ""
                self._bench.leave()
                return ""
            self._remarks.clear()
            if not self._go(text.strip()):
                self._complaint = self.wizard.answer(text)
            self._turn()
            return self._complaint

    def _is_way(self, text: str) -> bool:
        word, _, name = text.partition(" ")
        return text == "back" or (word == "step" and name in [step.name for step in self.wizard.steps])

    def _go(self, text: str) -> bool:
        """Go back, or to a step by its name; return false for an answer."""
        if not self._is_way(text):
            return False
        self._complaint = ""
        if text == "back":
            self.wizard.go_back()
        else:
            self.wizard.go_to(text.partition(" ")[2])
        return True

    def state(self) -> dict[str, Any]:
        """Return the state to show; ``version`` changes with it."""
        with self._changed:
            wizard, request = self.wizard, self.wizard.request
            question = None
            if isinstance(request, Question):
                question = {
                    "id": request.id, "words": request.words, "default": request.default,
                    "choices": [[value, words] for value, words in request.choices.items()],
                    "kind": request.kind, "cards": request.cards,
                }  # fmt: skip
            return {
                "version": self._version,
                "over": self.over.is_set(),
                "step": None if wizard.step is None else wizard.step.name,
                "steps": [[step.name, step.title] for step in wizard.steps],
                "remarks": list(self._remarks),
                "question": question,
                "busy": self._busy,
                "doing": request.what if isinstance(request, DeviceCall) else None,
                "complaint": self._complaint,
                "heard": sorted(self._bench.heard),
            }

    def _turn(self) -> None:
        self._version += 1
        self._keep(self.wizard)
        self._changed.notify_all()

    def _work(self) -> None:
        at = self.wizard.at
        while True:
            with self._changed:
                while isinstance(self.wizard.request, Question) and not self.wizard.stopped and self.wizard.at == at:
                    self._changed.wait()
                request, before, at = self.wizard.request, at, self.wizard.at
            if at != before:
                # However its step was left, a camera looks no longer. Closing it may take seconds: hold no lock.
                self._bench.look_away()
                continue
            with self._changed:
                if request is None or isinstance(request, Question):
                    self.over.set()
                    self._turn()
                    return
                if isinstance(request, Remark):
                    self._remarks.append(request.words)
                    self.wizard.give()
                    self._turn()
                    continue
                self._busy = request.words
                self._version += 1
            # Without the lock, so that `say` and `state` do not wait for the device.
            result = request.carry_out(self._bench)
            with self._changed:
                self._busy = ""
                if self._wish:
                    self._remarks.clear()
                    self._go(self._wish)
                    self._wish = ""
                else:
                    if isinstance(result, Failure):
                        self._remarks.append(result.words)
                    self.wizard.give(result)
                self._turn()
