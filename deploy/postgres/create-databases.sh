#!/bin/sh
# The PostgreSQL image runs this script once, on an empty data folder. For each service, the script creates a database and two
# roles. One role owns the database and runs migrations. The service uses the other role, which can only read and write rows.
# With the settings of the roles, the server log contains no statements, parameters or row values.
#
# Each role has its own password: IDENTITY_DATABASE_PASSWORD for amana_identity, IDENTITY_OWNER_PASSWORD for amana_identity_owner.
# The variables of the other services have the same form.
set -eu
services="identity kyc clients payments webhooks"
checked=" POSTGRES_PASSWORD"
for service in $services; do
  for kind in DATABASE OWNER; do
    variable=$(echo "$service" | tr a-z A-Z)_${kind}_PASSWORD
    eval "password=\${$variable:?must be set, because each database role has its own password}"
    for earlier in $checked; do
      if eval "[ \"\$password\" = \"\${$earlier:-}\" ]"; then
        echo "$variable and $earlier are equal. Give each database role its own password, remove the data folder, and start again." >&2
        exit 1
      fi
    done
    checked="$checked $variable"
  done
done
for service in $services; do
  role=amana_$service
  prefix=$(echo "$service" | tr a-z A-Z)
  psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" <<SQL
\getenv owner_password ${prefix}_OWNER_PASSWORD
\getenv password ${prefix}_DATABASE_PASSWORD
create role ${role}_owner login password :'owner_password';
create role $role login password :'password';
create database $role owner ${role}_owner;
revoke connect, temporary on database $role from public;
grant connect on database $role to $role;
\connect $role
alter default privileges for role ${role}_owner in schema public grant select, insert, update, delete on tables to $role;
alter default privileges for role ${role}_owner in schema public grant usage on sequences to $role;
SQL
  for login in "${role}_owner" "$role"; do
    psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" <<SQL
alter role $login set log_error_verbosity = terse;
alter role $login set log_min_error_statement = panic;
alter role $login set log_parameter_max_length = 0;
SQL
  done
done
