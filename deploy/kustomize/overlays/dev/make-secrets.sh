#!/bin/sh
# Creates the secrets of the overlay `dev` in files that Git ignores: deploy/kustomize/overlays/dev/make-secrets.sh
# To renew the certificates, run the script again. It does not change other existing secrets. It needs openssl and the
# installed dependencies of the repository.
set -eu
cd "$(dirname "$0")"
repository=../../../..
umask 077
mkdir -p .made
node=$repository/node_modules/.bin/node

[ -f .made/gateway-key ] || $node $repository/packages/rpc/src/make-caller-key.ts gateway-1 >.made/gateway-key
[ -f .made/kyc-key ] || $node $repository/packages/rpc/src/make-caller-key.ts kyc-1 >.made/kyc-key
[ -f .made/trail-key ] || $node $repository/packages/rpc/src/make-caller-key.ts trail-1 >.made/trail-key
[ -f .made/admin-key ] || $node $repository/packages/api-keys/src/make-key.ts >.made/admin-key
for name in fingerprint checkout encryption payments kyc audit; do
  [ -f .made/$name ] || openssl rand -base64 32 >.made/$name
done
database_roles=$(for service in IDENTITY KYC CLIENTS PAYMENTS WEBHOOKS; do echo ${service}_DATABASE ${service}_OWNER; done)
for name in POSTGRES $database_roles; do
  [ -f .made/${name}_PASSWORD ] || openssl rand -base64 32 >.made/${name}_PASSWORD
done
../../../make-certificates.sh .made/certificates

put() { # put <service> <setting> <value>
  mkdir -p "$1/secrets"
  printf %s "$3" >"$1/secrets/$2"
}
private_key() { sed -n 2p ".made/$1-key"; }
public_key() { sed -n 4p ".made/$1-key"; }
read_file() { cat ".made/$1"; }
payments="payments.v1=k1:$(read_file payments)"
kyc="kyc.v1=k1:$(read_file kyc)"
audit="audit.v1=k1:$(read_file audit)"

# Copies the script, because kustomize cannot read files outside of an overlay's folder.
mkdir -p postgres/secrets
cp $repository/deploy/postgres/create-databases.sh postgres/secrets/
for name in POSTGRES $database_roles; do put postgres ${name}_PASSWORD "$(read_file ${name}_PASSWORD)"; done
for service in gateway identity kyc clients payments webhooks; do
  mkdir -p $service/secrets
  cp .made/certificates/$service/*.pem $service/secrets/
  [ $service = gateway ] && continue
  prefix=$(echo $service | tr a-z A-Z)
  put $service DATABASE_PASSWORD "$(read_file ${prefix}_DATABASE_PASSWORD)"
  put $service OWNER_PASSWORD "$(read_file ${prefix}_OWNER_PASSWORD)"
  put $service GATEWAY_PUBLIC_KEYS "$(public_key gateway)"
  put $service KYC_PUBLIC_KEYS "$(public_key kyc)"
done
put gateway CALLER_PRIVATE_KEY "$(private_key gateway)"
put gateway FINGERPRINT_KEYS "$(read_file fingerprint)"
put gateway CHECKOUT_KEYS "$(read_file checkout)"
put identity BOOTSTRAP_ADMIN_KEY "$(read_file admin-key)"
put identity AUDIT_SIGNING_KEY "$(private_key trail)"
put identity EVENT_MAC_KEYS "$audit"
put kyc EVENT_MAC_KEYS "$kyc,$audit"
put kyc CALLER_PRIVATE_KEY "$(private_key kyc)"
put kyc SECRET_ENCRYPTION_KEYS "one:$(read_file encryption)"
put kyc KYC_PROVIDER_TOKEN sandbox
put kyc KYC_CALLBACK_SECRETS provider-callback-secret
put clients EVENT_MAC_KEYS "$audit,$kyc"
put payments EVENT_MAC_KEYS "$payments,$audit"
put payments SATIM_PASSWORD sandbox
put webhooks EVENT_MAC_KEYS "$audit,$payments,$kyc"
put webhooks SECRET_ENCRYPTION_KEYS "one:$(read_file encryption)"
