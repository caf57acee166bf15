"""Reads a bundle with Python's zipfile: zipfile_reader.py BUNDLE FOLDER TARGET=FILE…

Unpacks it, and checks what zipfile would not: order, modes, times, and that the programs are those given.
"""

import pathlib
import sys
import zipfile

bundle, folder, *binaries = sys.argv[1:]
with zipfile.ZipFile(bundle) as archive:
    assert archive.testzip() is None
    entries = archive.infolist()
    archive.extractall(folder)

assert entries[0].filename == "manifest.json"
for entry in entries:
    is_program = entry.filename.startswith("server/")
    assert entry.external_attr >> 16 == (0o100755 if is_program else 0o100644), entry
    assert entry.date_time == (2023, 11, 14, 22, 13, 20), entry
    assert entry.compress_type == zipfile.ZIP_DEFLATED, entry

contents = {path.read_bytes() for path in pathlib.Path(folder).glob("server/*/*")}
assert len(contents) == len(binaries) == 5
for binary in binaries:
    target, _, file = binary.partition("=")
    assert pathlib.Path(file).read_bytes() in contents, f"{target} is not in the bundle"
