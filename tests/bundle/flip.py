"""Copies a file with one byte changed: flip.py FILE OFFSET COPY"""

import pathlib
import sys

source, offset, copy = sys.argv[1:]
content = bytearray(pathlib.Path(source).read_bytes())
content[int(offset)] ^= 0x01
pathlib.Path(copy).write_bytes(content)
