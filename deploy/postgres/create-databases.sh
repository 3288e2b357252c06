#!/bin/sh
# Run once by the PostgreSQL image on an empty data folder: a database and a role for each service.
set -eu
for service in identity kyc clients payments webhooks; do
  psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" <<SQL
create role amana_$service login password '$POSTGRES_PASSWORD';
create database amana_$service owner amana_$service;
revoke connect, temporary on database amana_$service from public;
SQL
done
