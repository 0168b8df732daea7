#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# consumer.sh BUILD_DIR SOURCE_DIR NVCC: installs into a folder of its own and uses the package from a small project, as a
# step of the build, as a test, and from source. 77: skipped.
set -euo pipefail
build=$1 source=$2 nvcc=${3:-}
[[ -x $nvcc ]] || { echo "skipped: no nvcc, and the project is in CUDA"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { echo "-- $*"; }
fail() { echo "FAILED: $*"; exit 1; }

for component in handoff dev; do
  cmake --install "$build" --component $component --prefix "$work/prefix" >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake --install"; }
done
[[ -f $work/prefix/include/handoff/slot_ring.h && -x $work/prefix/bin/handoff ]] || fail "header or program is missing"

# configure NAME [OPTION...]: the consumer project in $work/NAME, with nvcc and Ninja.
configure() {
  local name=$1
  shift
  cmake -S "$source/analyzer/tests/package/consumer" -B "$work/$name" -G Ninja -DCMAKE_CUDA_COMPILER="$nvcc" \
    -DCMAKE_CUDA_ARCHITECTURES=80 "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "configuring $name"; }
}
# expect STATUS TEXT COMMAND...: the command ends so and says that.
expect() {
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >"$work/log" 2>&1 || status=1
  [[ $status == "$wanted" ]] && grep -qF -- "$text" "$work/log" && return
  cat "$work/log"
  fail "$*: expected status $wanted and '$text'"
}

say "a step of the build"
configure step -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CUDA_FLAGS=-DBUGGY
expect 1 "[barrier-only-handoff]" cmake --build "$work/step"
expect 1 "tiles.cu:17:" cmake --build "$work/step"
configure step -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_CUDA_FLAGS=
expect 0 "verified: reverse(const float4 *, float4 *)" cmake --build "$work/step"
expect 0 "no work to do" cmake --build "$work/step"
say "a header that changed"
cp -r "$source/analyzer/tests/package/consumer" "$work/project"
cmake -S "$work/project" -B "$work/header" -G Ninja -DCMAKE_CUDA_COMPILER="$nvcc" -DCMAKE_CUDA_ARCHITECTURES=80 \
  -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
expect 0 "block = (64,1,1)" cmake --build "$work/header"
sed -i 's/kThreads = 64/kThreads = 128/' "$work/project/include/tile_shape.h"
expect 0 "block = (128,1,1)" cmake --build "$work/header"

say "a test"
configure test -DCMAKE_PREFIX_PATH="$work/prefix" -DAS_TEST=ON -DCMAKE_CUDA_FLAGS=-DBUGGY
expect 0 "" cmake --build "$work/test"
expect 1 "handoff_check.tiles" ctest --test-dir "$work/test" --output-on-failure
configure test -DCMAKE_PREFIX_PATH="$work/prefix" -DAS_TEST=ON -DCMAKE_CUDA_FLAGS=
expect 0 "100% tests passed" ctest --test-dir "$work/test"

say "from source, as a subdirectory"
configure from_source -DFROM_SOURCE=ON -DHANDOFF_SOURCE_DIR="$source" -DHANDOFF_EXECUTABLE="$work/prefix/bin/handoff"
expect 0 "verified: reverse" cmake --build "$work/from_source"

say "mistakes in CMakeLists.txt"
mkdir "$work/wrong"
wrong() {
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(wrong LANGUAGES CXX)\nfind_package(handoff REQUIRED)\n%s\n' "$1" >"$work/wrong/CMakeLists.txt"
  expect 1 "$2" cmake -S "$work/wrong" -B "$work/wrong/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix"
}
wrong 'handoff_check(nothing)' "'nothing' is no target"
wrong 'add_library(a INTERFACE) 
handoff_check(a OPTION --quiet)' "what is 'OPTION;--quiet'?"
wrong 'add_library(a INTERFACE)
handoff_check(a)' "has no .cu file"
echo "passed"
