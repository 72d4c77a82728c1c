#!/bin/sh
# Copies the images of this bundle with skopeo, for all architectures, and keeps their digests.
# SKOPEO_FLAGS holds more flags for `skopeo copy`, such as --dest-tls-verify=false.
set -eu

usage() {
  cat >&2 <<'END'
usage: sh mirror.sh REGISTRY                from the network into a registry
       sh mirror.sh --save FOLDER           from the network into a folder
       sh mirror.sh --load FOLDER REGISTRY  from that folder into a registry
END
  exit 2
}

case "$#:${1-}" in
  2:--save) mode=save folder=${2%/} ;;
  3:--load) mode=load folder=${2%/} registry=${3%/} ;;
  1:-* | 1:) usage ;;
  1:*) mode=mirror registry=${1%/} ;;
  *) usage ;;
esac
[ "$mode" != save ] || mkdir -p "$folder"

copy() {
  case $mode in
    mirror) from="docker://$1" to="docker://$registry/$2" ;;
    save) from="docker://$1" to="dir:$folder/$3" ;;
    load) from="dir:$folder/$3" to="docker://$registry/$2" ;;
  esac
  printf '%s\n' "$2"
  # shellcheck disable=SC2086 # flags are words
  skopeo copy --quiet --all --preserve-digests ${SKOPEO_FLAGS-} "$from" "$to"
}

