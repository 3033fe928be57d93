#!/usr/bin/env bash
# Makes what compose.yaml reads, once: random passwords and keys, a file each, in deploy/secrets. What is there already stays: SECRETS_KEY seals
# secrets in the database and cannot be made again. Readable for the containers' users, in a folder only its owner can enter.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p -m 700 secrets
random() { head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'; }
make() { # name, content
  [[ -e secrets/$1 ]] || printf '%s' "$2" >"secrets/$1"
  chmod 444 "secrets/$1"
}
make database_owner_password "$(random)"
make database_password "$(random)"
make database_owner_url "postgres://countersign_owner:$(cat secrets/database_owner_password)@postgres:5432/countersign"
make database_url "postgres://countersign:$(cat secrets/database_password)@postgres:5432/countersign"
make identity_key "$(random)"
make secrets_key "$(random)"
echo "deploy/secrets has what compose.yaml reads. Keep secrets_key: without it the webhook secrets in the database are lost."
