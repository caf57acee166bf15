"""Looks into programs for systems that are not here: inspect_programs.py VERSION PROGRAM...

Fails unless each is what its system starts without more than itself brings. Needs lief.
"""

import hashlib
import struct
import sys

import lief

# What every supported Windows has (learn.microsoft.com, "Windows API sets" for api-ms-win-*; bcryptprimitives.dll since 8).
WINDOWS_LIBRARIES = set(
    "advapi32 bcrypt bcryptprimitives combase crypt32 kernel32 ktmw32 msvcrt ntdll ole32 oleaut32 shell32 userenv ws2_32".split()
)
WINDOWS_API_SETS = ("api-ms-win-core-", "api-ms-win-crt-")
ICON_SIZES = {16, 32, 48, 256}
MAC_LIBRARIES = ("/usr/lib/", "/System/Library/Frameworks/")
MAC_PROCESSORS = {"ARM64", "X86_64"}
# Zig's linker writes this one; Apple's takes Rust's, which is older.
OLDEST_MAC = [13, 0, 0]
# xnu, osfmk/kern/cs_blobs.h
EMBEDDED_SIGNATURE, CODE_DIRECTORY, AD_HOC, SHA256 = 0xFADE0CC0, 0xFADE0C02, 0x2, 2


def windows(program, version):
    yield "is for AMD64", program.header.machine == lief.PE.Header.MACHINE_TYPES.AMD64
    # A client that has no console starts it with CREATE_NO_WINDOW; one that has shares it.
    console = lief.PE.OptionalHeader.SUBSYSTEM.WINDOWS_CUI
    yield "is a console program", program.optional_header.subsystem == console
    flags = lief.PE.OptionalHeader.DLL_CHARACTERISTICS
    for flag in (flags.DYNAMIC_BASE, flags.HIGH_ENTROPY_VA, flags.NX_COMPAT):
        yield flag.name, program.optional_header.has(flag)
    names = {library.name.lower().removesuffix(".dll") for library in program.imports}
    others = {name for name in names - WINDOWS_LIBRARIES if not name.startswith(WINDOWS_API_SETS)}
    yield f"takes the system's libraries alone {others or ''}", not others

    resources = program.resources_manager
    yield "has an icon of each size", ICON_SIZES <= {icon.width or 256 for icon in resources.icons}
    manifest = resources.manifest
    for word in ("asInvoker", "UTF-8", "longPathAware", "8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a"):
        yield f"manifest has {word}", word in manifest
    said = {
        entry.key: entry.value
        for version_info in resources.version
        for table in version_info.string_file_info.children
        for entry in table.entries
    }
    yield f"says its version {said}", said.get("ProductVersion") == said.get("FileVersion") == version
    yield "says its name", said.get("ProductName") == "tablecloth-mcp" and said.get("FileDescription")


def mac(program, path):
    cpu = program.header.cpu_type.name
    yield f"is for {cpu}", cpu in MAC_PROCESSORS
    yield "is position independent", program.is_pie
    if program.has_build_version:
        yield "is for macOS", program.build_version.platform == lief.MachO.BuildVersion.PLATFORMS.MACOS
        oldest = program.build_version.minos
    else:
        oldest = program.version_min.version
    yield f"runs from macOS {oldest}", oldest <= OLDEST_MAC
    names = [library.name for library in program.libraries]
    others = [name for name in names if not name.startswith(MAC_LIBRARIES)]
    yield f"takes the system's libraries alone {others or names}", not others and names
    yield "searches no other folders", not program.has_rpath
    if cpu == "ARM64" or program.has_code_signature:
        yield "has a signature", program.has_code_signature
        yield "has a good ad-hoc signature", is_signed(path, program.code_signature.data_offset)


def is_signed(path, start):
    """Whether the signature is an ad-hoc one and that of these very bytes: macOS kills arm64 programs otherwise."""
    data = open(path, "rb").read()
    magic, _, count = struct.unpack_from(">3I", data, start)
    if magic != EMBEDDED_SIGNATURE:
        return False
    for number in range(count):
        (offset,) = struct.unpack_from(">I", data, start + 12 + 8 * number + 4)
        at = start + offset
        if struct.unpack_from(">I", data, at)[0] != CODE_DIRECTORY:
            continue
        _, flags, hashes, _, _, slots, limit = struct.unpack_from(">7I", data, at + 8)
        hash_size, kind, _, page_bits = struct.unpack_from("4B", data, at + 36)
        if not flags & AD_HOC or kind != SHA256 or limit != start:
            return False
        page = 1 << page_bits
        pages = [data[from_:min(from_ + page, limit)] for from_ in range(0, limit, page)]
        signed = [data[at + hashes + n * hash_size:][:hash_size] for n in range(slots)]
        return signed == [hashlib.sha256(content).digest()[:hash_size] for content in pages]
    return False


def linux(program):
    yield "takes no library", not program.libraries
    yield "takes no loader", not program.has_interpreter


def main(version, *paths):
    failed = False
    for path in paths:
        program = lief.parse(path)
        if program is None:
            sys.exit(f"{path} is no program")
        if isinstance(program, lief.PE.Binary):
            checks = windows(program, version)
        elif isinstance(program, lief.MachO.Binary):
            checks = mac(program, path)
        else:
            checks = linux(program)
        print(path)
        for check, holds in checks:
            print("  ok  " if holds else "  FAIL", check)
            failed |= not holds
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
