#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deb.sh BUILD_DIR: builds the Debian packages, installs them on this machine, uses them, and removes them.
# 77: skipped.
set -euo pipefail
build=$1
packages=(handoff handoff-confirm libhandoff-dev)
skip() { echo "skipped: $*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
say() { echo "-- $*"; }

for tool in dpkg dpkg-deb dpkg-shlibdeps cpack; do
  command -v $tool >/dev/null || skip "$tool is not here"
done
(($(id -u) == 0)) || skip "installing packages needs root"
exec 9>/var/lock/handoff-package-test
flock 9
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) != installed ]] || skip "$package is installed already"
done

work=$(mktemp -d)
cleanup() {
  dpkg --purge "${packages[@]}" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT

say "building"
(cd "$build" && cpack -G DEB -B "$work") >"$work/log" 2>&1 || { cat "$work/log"; fail "cpack"; }
debs=("$work"/*.deb)
((${#debs[@]} == 3)) || fail "there should be three packages: ${debs[*]}"

say "what dpkg says of them"
field() { dpkg-deb -f "$work"/"$1"_*.deb "$2"; }
for needed in libclang-cpp22 libllvm22 libz3-4 libclang-common-22-dev; do
  [[ $(field handoff Depends) == *$needed* ]] || fail "handoff does not depend on $needed: $(field handoff Depends)"
done
[[ $(field handoff-confirm Depends) =~ ^libc6\ \([^,]*\)$ ]] || fail "handoff-confirm depends on $(field handoff-confirm Depends)"
[[ $(field libhandoff-dev Architecture) == all && -z $(field libhandoff-dev Depends) ]] || fail "libhandoff-dev is for all, without depends"
if command -v lintian >/dev/null; then
  # A first upload to Debian closes a bug there; this is none.
  lintian --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning "$work"/*.deb 2>&1 |
    grep -v "running with root privileges" >"$work/log" || true
  [[ ! -s $work/log ]] || { cat "$work/log"; fail "lintian"; }
else
  echo "   lintian is not here: left out"
fi

say "installing"
dpkg -i "$work"/*.deb >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg -i"; }
example=/usr/share/doc/handoff/examples/barrier-only-handoff/bad_row_exchange.cu
status=0
(cd / && /usr/bin/handoff check --cuda-path=none $example) >"$work/log" 2>&1 || status=$?
if ((status != 1)) || ! grep -q "\[barrier-only-handoff\]" "$work/log"; then
  cat "$work/log"
  fail "check returned $status"
fi
/usr/bin/handoff explain barrier-only-handoff >"$work/log"
grep -q "^# barrier-only-handoff" "$work/log" || fail "handoff explain"
/usr/bin/handoff-confirm --help >"$work/log"
grep -q "Usage: handoff-confirm" "$work/log" || fail "handoff-confirm --help"
if command -v man >/dev/null; then
  for page in handoff handoff-confirm; do
    [[ $(man -w $page) == /usr/share/man/man1/$page.1.gz ]] || fail "man -w $page"
    man $page >"$work/log" 2>/dev/null
    grep -q "EXIT STATUS" "$work/log" || fail "man $page"
  done
else
  echo "   man is not here: left out"
fi
bash --norc -c 'source /usr/share/bash-completion/completions/handoff && complete -p handoff' >/dev/null || fail "bash completion"
for file in /usr/share/zsh/vendor-completions/_handoff /usr/share/fish/vendor_completions.d/handoff.fish; do
  [[ -s $file ]] || fail "$file"
done

say "find_package(handoff) from /usr"
mkdir "$work/project"
# shellcheck disable=SC2016  # CMake expands these
printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(p LANGUAGES CXX)' 'find_package(handoff REQUIRED)' \
  'get_target_property(folders handoff::runtime INTERFACE_INCLUDE_DIRECTORIES)' \
  'message(STATUS "${folders} ${HANDOFF_EXECUTABLE}")' >"$work/project/CMakeLists.txt"
cmake -S "$work/project" -B "$work/project/build" >"$work/log" 2>&1 || { cat "$work/log"; fail "find_package"; }
grep -q -- "-- /usr/include /usr/bin/handoff" "$work/log" || { cat "$work/log"; fail "find_package found something else"; }

say "removing"
dpkg -L "${packages[@]}" | grep -v '^$' | while read -r path; do [[ -d $path ]] || echo "$path"; done >"$work/files"
dpkg --purge "${packages[@]}" >"$work/log" 2>&1 || { cat "$work/log"; fail "dpkg --purge"; }
while read -r path; do
  [[ ! -e $path ]] || fail "$path is still there"
done <"$work/files"
echo "passed: $(wc -l <"$work/files") files came and went"
