#!/bin/sh
# Starts what SERVICE names, or a command of the operators' CLI: `entrypoint.sh countersign status`.
#
# Whatever it starts takes this shell's place: it is process 1, gets the signals itself, and its exit code is the container's.
set -eu
root=$(dirname "$0")

# A secret may stand in a file that its variable's name and _FILE names.
for name in DATABASE_URL IDENTITY_KEY SECRETS_KEY SECRETS_KEY_PREVIOUS KAFKA_PASSWORD OTEL_EXPORTER_OTLP_HEADERS; do
  eval "file=\${${name}_FILE:-}"
  if [ -n "$file" ]; then
    value=$(cat "$file") || exit 1
    export "$name=$value"
    unset "${name}_FILE"
  fi
done

# Keeps the memory low: services/platform/src/services/memory.ts says why and does the same.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
flags="--max-semi-space-size=4 --expose-gc"

if [ "${1:-}" = countersign ]; then
  shift
  exec node "$root/services/platform/dist/cli.js" "$@"
fi
if [ $# -gt 0 ]; then
  echo "Arguments are a command of the CLI, such as: countersign status. What else runs, SERVICE says." >&2
  exit 64
fi
case "${SERVICE:-}" in
  gateway | intake | decisions | directory | monitoring | webhooks | audit)
    # shellcheck disable=SC2086
    exec node $flags "$root/services/$SERVICE/dist/main.js"
    ;;
  all-in-one)
    if [ -z "${DATABASE_URL:-}" ]; then
      echo "DATABASE_URL is not set: this image holds no PostgreSQL." >&2
      exit 64
    fi
    exec node "$root/services/platform/dist/main.js"
    ;;
  migrate)
    exec node "$root/services/platform/dist/cli.js" migrate
    ;;
  *)
    echo "SERVICE must be one of gateway, intake, decisions, directory, monitoring, webhooks, audit, all-in-one, migrate; it is '${SERVICE:-}'." >&2
    exit 64
    ;;
esac
