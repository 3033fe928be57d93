#!/bin/bash
# Run once by the PostgreSQL image, on an empty database: the login of the services, which may do what the role countersign_app may and owns
# nothing. The owner, who migrates, is the image's own user.
set -euo pipefail
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --set "password=$(cat /run/secrets/database_password)" <<'SQL'
create role countersign_app nologin;
create role countersign login password :'password' in role countersign_app;
SQL
