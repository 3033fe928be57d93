#!/usr/bin/env bash
# The steps of the image's build; the Dockerfile's RUN lines call them, and `npm run image:check` runs them without Docker.
#
#   build-image.sh build        in a copy of the sources: installs everything and builds
#   build-image.sh tree <out>   from there: what a process needs to run and nothing else, into the new folder <out>
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build() {
  npm ci --loglevel=error --no-audit --no-fund
  CI=1 npm run --silent build
}

# Of what was built: programs and their data, without specs, fixtures, declarations, source maps.
tree() {
  local out=$1 package
  mkdir "$out"
  # npm wants every package its lock names; those that are not run stay a package.json, and go at the end.
  for package in . contracts libs/* services/* test; do
    [[ -f $package/package.json ]] || continue
    mkdir -p "$out/$package"
    cp "$package/package.json" "$out/$package/"
  done
  cp package-lock.json "$out/"
  (
    cd "$out"
    npm ci --loglevel=error --no-audit --no-fund --ignore-scripts --omit=dev --omit=optional \
      --workspace=services/platform --include-workspace-root=false
    rm -rf test services/inbox libs/testing package-lock.json node_modules/.package-lock.json node_modules/.bin
    find . -path '*/node_modules/*' -xtype l -delete
    find . -path '*/node_modules/*' -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) -delete
    find . -type d -empty -delete
  )
  for package in contracts libs/* services/*; do
    if [[ -d $out/$package && -d $package/dist ]]; then
      (cd "$package" && find dist -name '*.js' ! -name '*.spec.js' ! -name '*.fixture.js' ! -path '*/fixture/*' ! -path '*/testing/*' \
        ! -path 'dist/contract/*' -print0 | tar --create --null --files-from=- | tar --extract --directory="$out/$package")
    fi
    for data in migrations generated; do
      if [[ -d $out/$package && -d $package/$data ]]; then cp -r "$package/$data" "$out/$package/"; fi
    done
  done
  # The gateway serves the inbox.
  mkdir -p "$out/services/inbox"
  cp -r services/inbox/dist "$out/services/inbox/"
  install -m 755 deploy/entrypoint.sh deploy/ready.sh "$out/"
  cp LICENSE* "$out/" 2>/dev/null || true
  chmod -R u=rwX,go=rX "$out"
}

case "${1:-}" in
  build) build ;;
  tree) tree "$(realpath -m "${2:?Name the folder to make.}")" ;;
  *)
    echo "Usage: build-image.sh build | tree <out>" >&2
    exit 64
    ;;
esac
