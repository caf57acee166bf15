#!/bin/sh
# Starts the program for this system and CPU: a bundle's manifest can choose by system only.
# Clients run this with /bin/sh, because some unpack every file without its executable bit.

case $0 in
  */*) here=${0%/*} ;;
  *) here=. ;;
esac

# $1: in Korean, $2: the same in English. Standard output belongs to the protocol.
give_up() {
  printf 'tablecloth-mcp: %s\ntablecloth-mcp: %s\n' "$1" "$2" >&2
  exit 1
}

system=$(uname -s)
machine=$(uname -m)
case $system/$machine in
  Darwin/arm64) folder=darwin-arm64 ;;
  Darwin/x86_64) folder=darwin-x64 ;;
  Linux/x86_64) folder=linux-x64 ;;
  Linux/aarch64 | Linux/arm64) folder=linux-arm64 ;;
  *)
    give_up "이 컴퓨터($system $machine)에서 쓸 수 있는 프로그램이 들어 있지 않습니다. macOS와 Linux의 x86_64, arm64에서 쓸 수 있습니다." \
      "there is no program for this computer ($system $machine), only for macOS and Linux on x86_64 and arm64."
    ;;
esac

program=$here/$folder/tablecloth-mcp
[ -f "$program" ] ||
  give_up "프로그램 파일이 없습니다($program). 확장 프로그램을 지우고 다시 설치해 주세요." \
    "the program is missing ($program). Remove the extension and install it again."
[ -x "$program" ] || chmod u+x "$program" ||
  give_up "프로그램을 실행할 수 있게 바꾸지 못했습니다($program). 확장 프로그램을 지우고 다시 설치해 주세요." \
    "the program could not be made executable ($program). Remove the extension and install it again."
exec "$program" "$@"
