#!/bin/sh
# Run once by the PostgreSQL image on an empty data folder: for each service a database, the role that owns it and runs its
# migrations, and the role that the service runs as, which reads and writes rows and changes nothing else. What a statement
# is about, and which row it met, stays out of the server's log.
set -eu
for service in identity kyc clients payments webhooks; do
  role=amana_$service
  psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" <<SQL
\getenv password POSTGRES_PASSWORD
create role ${role}_owner login password :'password';
create role $role login password :'password';
create database $role owner ${role}_owner;
revoke connect, temporary on database $role from public;
grant connect on database $role to $role;
\connect $role
alter default privileges for role ${role}_owner in schema public grant select, insert, update, delete on tables to $role;
alter default privileges for role ${role}_owner in schema public grant usage on sequences to $role;
SQL
  for each in "${role}_owner" "$role"; do
    psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" <<SQL
alter role $each set log_error_verbosity = terse;
alter role $each set log_min_error_statement = panic;
alter role $each set log_parameter_max_length = 0;
SQL
  done
done
