"""A program whose output may be closed, full or gone: prints, and writes the result into a file.

A file that is opened after its start must not get the number of a standard file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from referee.cli.lasting_output import lasting_output, open_standard_files

open_standard_files()
said = Path(sys.argv[1])
with said.open("w", encoding="utf-8") as file, lasting_output():
    for _ in range(200):
        print("an unread line " * 40)
        print("nor this", file=sys.stderr)
    sys.stdout.flush()
    # A child has the same standard files, and prints too.
    child = subprocess.run([sys.executable, "-c", "import os; os.fstat(0); os.fstat(1); os.fstat(2)"], check=False)
    numbers = sorted((file.fileno(), os.dup(0)))
    print(min(numbers) > 2, child.returncode, sys.stdout.isatty(), file=file)
