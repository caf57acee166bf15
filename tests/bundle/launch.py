"""Runs launch.sh with programs that only say where they lie: launch.py SCRIPT SHELL…"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

script, *shell = sys.argv[1:]
PROGRAM = "#!/bin/sh\necho \"$0\" \"$@\"\n"
FOLDERS = {
    ("Darwin", "arm64"): "darwin-arm64",
    ("Darwin", "x86_64"): "darwin-x64",
    ("Linux", "x86_64"): "linux-x64",
    ("Linux", "aarch64"): "linux-arm64",
    ("Linux", "arm64"): "linux-arm64",
}


def write_program(path, text, mode):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def run(folder, system, machine, args=(), script_path=None, cwd="/"):
    uname = f"#!/bin/sh\n[ \"$1\" = -m ] && echo {machine} || echo {system}\n"
    write_program(folder / "bin/uname", uname, 0o755)
    environment = {"PATH": f"{folder}/bin:{os.environ['PATH']}", "LC_ALL": "C"}
    script_path = script_path or folder / "server/launch.sh"
    done = subprocess.run(
        [*shell, script_path, *args], cwd=cwd, env=environment, capture_output=True, timeout=10, stdin=subprocess.DEVNULL
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


with tempfile.TemporaryDirectory(prefix="식탁보 $x ") as scratch:
    scratch = pathlib.Path(scratch)
    server = scratch / "server"
    server.mkdir()
    shutil.copy(script, server / "launch.sh")
    (server / "launch.sh").chmod(0o600)

    for (system, machine), folder in FOLDERS.items():
        program = server / folder / "tablecloth-mcp"
        for mode in 0o600, 0o755:
            write_program(program, PROGRAM, mode)
            done = run(scratch, system, machine, ["a b", "*"])
            assert done == (0, f"{program} a b *\n", ""), done
        assert program.stat().st_mode & 0o777 == 0o755

        # By a path without a folder, and by a relative one.
        for script_path, cwd in ("launch.sh", server), ("server/launch.sh", scratch):
            code, output, errors = run(scratch, system, machine, (), script_path, cwd)
            assert (code, errors) == (0, ""), errors
            assert cwd / output.removesuffix("\n") == program, output

        program.unlink()
        code, output, errors = run(scratch, system, machine)
        assert (code, output) == (1, "") and f"the program is missing ({program})" in errors, errors
        assert f"프로그램 파일이 없습니다({program})" in errors, errors

    for system, machine in ("Linux", "i686"), ("Linux", "riscv64"), ("FreeBSD", "x86_64"), ("Darwin", "ppc"):
        code, output, errors = run(scratch, system, machine)
        assert (code, output) == (1, "") and f"no program for this computer ({system} {machine})" in errors, errors
        assert f"이 컴퓨터({system} {machine})" in errors, errors
